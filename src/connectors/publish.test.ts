import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '#lib/errors.ts'
import type { PlannedSnapshot } from './plan.ts'
import { publishSnapshot } from './publish.ts'
import type { Target } from './target.ts'

const NOW = new Date('2026-05-01T00:00:00Z')

interface Sent {
  snapshotId: string
  observedAt: string
  entities: { title: string; attributes: Record<string, unknown> }[]
}
type Answer = [status: number, body: unknown]

const counts = { opened: 2, closed: 0, unchanged: 1, superseded: 0 }
const accepted: Answer = [200, { ...counts, relations: { ...counts, pending: 3 } }]

function refusal(status: number, code: string, details: Record<string, unknown> = {}): Answer {
  return [status, { error: { code, message: code, details, requestId: 'r' } }]
}

/** A network on which the control plane gives these answers in turn; `drop` gives none. */
function network(answers: (Answer | 'drop')[]) {
  const sent: Sent[] = []
  const pauses: number[] = []
  const target: Target = {
    workspaceId: '018f0000-0000-7000-8000-000000000001',
    signal: AbortSignal.timeout(10_000),
    clock: { now: () => NOW, pause: async (seconds) => void pauses.push(seconds) },
    client: {
      url: 'http://control-plane.invalid',
      token: 'token',
      fetch: async (_url, init) => {
        sent.push((await new Response(init?.body ?? null).json()) as Sent)
        const answer = answers.shift() ?? refusal(500, 'internal_error')
        if (answer === 'drop') throw new TypeError('connection reset')
        return new Response(JSON.stringify(answer[1]), { status: answer[0] })
      },
    },
  }
  return { target, sent, pauses }
}

const snapshot: PlannedSnapshot = {
  scope: 'app/history/2026-04',
  snapshotId: 'app/history/2026-04@d.1',
  observedAt: '2026-04-01T00:00:00Z',
  entities: [
    { kind: 'commit', key: 'commit:app@1', title: 'One', attributes: { message: 'password=x' } },
  ],
  relations: [],
  reason: 'new',
  recorded: { scope: 'app', digest: 'd', generation: 1, observedAt: '2026-04-01T00:00:00Z' },
}

describe('publishSnapshot', () => {
  it('tells what memory counted', async () => {
    const { target } = network([accepted])
    assert.deepEqual(await publishSnapshot(target, 'git', snapshot), {
      opened: 2,
      closed: 0,
      unchanged: 1,
      superseded: 0,
      pending: 3,
      duplicate: false,
      warnings: [],
    })
  })

  it('repeats a lost answer, an absent memory and a rate limit, under the same id', async () => {
    const absent = refusal(502, 'memory_unavailable', { retryable: true })
    const { target, sent, pauses } = network([
      'drop',
      absent,
      refusal(429, 'rate_limited'),
      accepted,
    ])
    await publishSnapshot(target, 'git', snapshot)
    assert.deepEqual(pauses, [1, 2, 4])
    assert.equal(new Set(sent.map(({ snapshotId }) => snapshotId)).size, 1)
  })

  it('gives up on what another attempt cannot mend', async () => {
    for (const code of ['permission_denied', 'snapshot_invalid', 'memory_disabled']) {
      const { target, sent } = network([refusal(403, code)])
      await assert.rejects(publishSnapshot(target, 'git', snapshot), (error) => {
        return error instanceof AppError && error.code === code
      })
      assert.equal(sent.length, 1)
    }
  })

  it('leaves out a value that looks like a secret, and says which', async () => {
    const pointer = 'body.entities.0.attributes.message'
    const { target, sent } = network([refusal(422, 'secret_refused', { pointer }), accepted])
    const outcome = await publishSnapshot(target, 'git', snapshot)
    assert.match(outcome.warnings.join(), /attributes\.message looked like a secret/)
    assert.match(String(sent[1]?.entities[0]?.attributes['message']), /removed/)
    assert.equal(snapshot.entities[0]?.attributes['message'], 'password=x')
  })

  it('does not try forever to remove a secret that is elsewhere', async () => {
    const { target } = network([refusal(422, 'secret_refused', { pointer: 'body.source' })])
    await assert.rejects(publishSnapshot(target, 'git', snapshot), { code: 'secret_refused' })
  })

  it('dates a snapshot now when memory has a newer one', async () => {
    const { target, sent } = network([refusal(409, 'snapshot_stale'), accepted])
    await publishSnapshot(target, 'git', snapshot)
    assert.equal(sent[1]?.observedAt, '2026-05-01T00:00:00Z')
  })

  it('takes another id when its own was used for another content', async () => {
    const used: Answer = [200, { duplicate: true, contentDiffers: true, stateToken: 'st1-x' }]
    const { target, sent } = network([used, accepted])
    const outcome = await publishSnapshot(target, 'git', snapshot)
    assert.equal(outcome.duplicate, false)
    assert.match(sent[1]?.snapshotId ?? '', /^app\/history\/2026-04@d\.1~[0-9a-f]{8}$/)
  })
})
