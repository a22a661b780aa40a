import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { recordObservation } from '#contract/observations.ts'
import { getAdapterStatus, rebuildAdapter } from '#contract/operations.ts'
import { startRole } from '../support/program.ts'
import type { Running } from '../support/program.ts'
import type { Exchange } from '../support/recording-proxy.ts'
import { isBehind, wholeStrata } from '../support/strata.ts'
import type { Whole } from '../support/strata.ts'
import { toldOnce } from '../support/told-once.ts'
import { waitFor } from '../support/wait.ts'

/** Small pages, so that a few observations make several deliveries, and no long pauses. */
const QUICK = {
  CP_CONTEXT_TENANT_BATCH_SIZE: '20',
  CP_CONTEXT_POLL_INTERVAL_SECONDS: '0.1',
  CP_CONTEXT_INGEST_TIMEOUT_SECONDS: '60',
  CP_CONTEXT_RETRY_BACKOFF_BASE_SECONDS: '0.1',
  CP_CONTEXT_RETRY_BACKOFF_MAX_SECONDS: '0.2',
}

function startAdapter(t: TestContext, { adapterSettings }: Whole): Running {
  return startRole(t, 'adapter', { ...adapterSettings, ...QUICK })
}

const isBatch = ({ path }: Exchange) => path === '/api/memory/observations:batch'

async function observe(client: ClientOptions, count: number): Promise<void> {
  for (let number = 1; number <= count; number += 1) {
    const body = { kind: 'note', content: `Note ${number} of the journey` }
    await call(client, recordObservation, { body })
  }
}

/** Everything delivered, nothing lost, nothing doubled, and the operator is told so. */
async function checkAllTold(whole: Whole, client: ClientOptions, atLeast: number): Promise<void> {
  await waitFor(async () => !(await isBehind(whole.db)), 30)
  const { expected, missing, tooMuch } = await toldOnce(whole.db, whole.memoryDb)
  assert.ok(expected >= atLeast, `${expected} events`)
  assert.deepEqual(missing, [])
  assert.deepEqual(tooMuch, [])
  const status = await call(client, getAdapterStatus, {})
  assert.equal(status.status, 'ok')
  assert.equal(status.lagEvents, 0)
}

function duplicatesIn(exchanges: readonly Exchange[]): number {
  const answers = exchanges.filter(isBatch).map(({ answer }) => JSON.parse(answer) as object)
  return answers.reduce((sum, one) => sum + Number('duplicates' in one && one.duplicates), 0)
}

describe('the adapter', () => {
  it('killed between the confirmation and its commit loses nothing and doubles nothing', async (t) => {
    let running: Running | undefined
    const fatal = new Set([1, 3, 4])
    let confirmed = 0
    const whole = await wholeStrata(t, async (exchange) => {
      if (!isBatch(exchange)) return true
      confirmed += 1
      if (!fatal.has(confirmed)) return true
      running?.kill('SIGKILL')
      await running?.ended
      return false
    })
    const { client } = await whole.tenant()
    await observe(client, 70)
    for (const _ of fatal) {
      running = startAdapter(t, whole)
      assert.equal(await running.ended, null, running.said())
    }
    assert.equal(await isBehind(whole.db), true)

    running = startAdapter(t, whole)

    await checkAllTold(whole, client, 70)
    assert.ok(duplicatesIn(whole.exchanges) >= 50, 'what was confirmed was told once more')
    running.kill('SIGTERM')
    assert.equal(await running.ended, 0, running.said())
  })

  it('that does not hear the confirmation asks again, and the work goes on', async (t) => {
    let cuts = 0
    const whole = await wholeStrata(t, (exchange) => {
      if (!isBatch(exchange) || cuts === 5) return true
      cuts += 1
      return false
    })
    const [one, other] = [await whole.tenant(), await whole.tenant()]
    await observe(one.client, 30)
    await observe(other.client, 30)

    startAdapter(t, whole)

    await checkAllTold(whole, one.client, 60)
    assert.equal(cuts, 5)
  })

  it('is sent back as often as an operator likes while it delivers, and tells all of it once', async (t) => {
    const whole = await wholeStrata(t)
    const { client, ctx } = await whole.tenant()
    startAdapter(t, whole)
    const params = { tenantId: ctx.tenantId }
    await waitFor(async () => (await call(client, getAdapterStatus, {})).deliveredTotal > 0, 30)
    for (let round = 0; round < 10; round += 1) {
      await observe(client, 5)
      await call(client, rebuildAdapter, { params, body: { reason: 'once more' } })
    }
    await checkAllTold(whole, client, 50)
  })

  it('leads once: a second one stands by, and takes over from one that was killed', async (t) => {
    const whole = await wholeStrata(t)
    const { client } = await whole.tenant()
    const first = startAdapter(t, whole)
    await first.hears(/Adapter leads.*"leaderEpoch":"1"/)
    const second = startAdapter(t, whole)
    await second.hears(/Context adapter is ready/)
    await observe(client, 30)
    await waitFor(async () => !(await isBehind(whole.db)), 30)
    assert.doesNotMatch(second.said(), /Adapter leads/)

    first.kill('SIGKILL')
    await observe(client, 30)
    await second.hears(/Adapter leads.*"leaderEpoch":"2"/)

    await checkAllTold(whole, client, 60)
  })

  it('that lost its lock in the middle of a delivery commits nothing any more', async (t) => {
    const held = Promise.withResolvers<void>()
    const next = Promise.withResolvers<void>()
    const whole = await wholeStrata(t, async (exchange) => {
      if (!isBatch(exchange)) return true
      if (whole.exchanges.filter(isBatch).length === 1) {
        held.resolve()
        await next.promise
      }
      return true
    })
    const { client, ctx } = await whole.tenant()
    await observe(client, 30)
    const first = startAdapter(t, whole)
    await held.promise
    const second = startAdapter(t, whole)
    await second.hears(/Context adapter is ready/)

    await whole.db`
      select pg_terminate_backend(pid)
      from pg_stat_activity
      where datname = current_database() and application_name = 'strata-adapter-0'`
    await second.hears(/Adapter leads/)
    await waitFor(async () => !(await isBehind(whole.db)), 30)
    next.resolve()

    await waitFor(async () => (await staleCommits(whole, ctx.tenantId)) === 1, 30)
    await checkAllTold(whole, client, 30)
    first.kill('SIGTERM')
    assert.equal(await first.ended, 0, first.said())
  })
})

async function staleCommits({ db }: Whole, tenantId: string): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select coalesce((metadata ->> 'staleCommitsTotal')::int, 0) as count
    from event_consumer_cursors
    where tenant_id = ${tenantId}`
  return row?.count ?? 0
}
