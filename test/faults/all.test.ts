import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getClaim } from '#contract/claims.ts'
import { getObservation, recordObservation } from '#contract/observations.ts'
import { getAdapterStatus } from '#contract/operations.ts'
import type { Database } from '#db/sql.ts'
import { lookInto, startAll } from '../support/all.ts'
import { temporaryFolder } from '../support/embedded.ts'
import { toldOnce } from '../support/told-once.ts'
import { waitFor } from '../support/wait.ts'
import { countOf, writeUntilCut } from '../support/writers.ts'
import type { Acknowledged, Unanswered } from '../support/writers.ts'

/** More rounds for a longer look: STRATA_TEST_KILLS=50 npm test -- test/faults/all.test.ts */
const ROUNDS = Number(process.env['STRATA_TEST_KILLS'] ?? 3)

/** Whatever was acknowledged is there for whoever asks by its id. */
async function checkReadable(admin: ClientOptions, { observations, claims }: Acknowledged) {
  for (const { id, content } of observations) {
    const found = await call(admin, getObservation, { params: { id } })
    assert.equal(found.content, content)
  }
  for (const { id, fencingToken } of claims) {
    const found = await call(admin, getClaim, { params: { id } })
    assert.equal(found.fencingToken, fencingToken)
  }
}

/** A write without an answer is repeated with its key: it happens now, or it happened then. */
async function repeat(admin: ClientOptions, unanswered: Unanswered): Promise<void> {
  for (const { content, idempotencyKey } of unanswered) {
    const body = { kind: 'finding', content }
    await call(admin, recordObservation, { idempotencyKey, body })
  }
}

async function caughtUp(admin: ClientOptions): Promise<void> {
  await waitFor(async () => (await call(admin, getAdapterStatus, {})).lagEvents === 0, 60)
}

/** What the journal holds more or less than once, of what it must hold exactly once. */
async function notOnce(db: Database, known: Acknowledged, contents: readonly string[]) {
  const events = await db<{ type: string; key: string }[]>`
    select e.type, coalesce(e.payload ->> 'claimId', e.entity_id) as key
    from events e
    where e.type in ('observation.recorded', 'task.claimed', 'claim.released')`
  const recorded = await db<{ content: string }[]>`
    select content
    from observation_contents`
  const counts = new Map<string, number>()
  for (const key of [
    ...events.map(({ type, key: entity }) => `${type} ${entity}`),
    ...recorded.map(({ content }) => content),
  ]) {
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  const once = [
    ...known.observations.map(({ id }) => `observation.recorded ${id}`),
    ...known.claims.map(({ id }) => `task.claimed ${id}`),
    ...known.releases.map((id) => `claim.released ${id}`),
    ...contents,
  ]
  return once.filter((key) => counts.get(key) !== 1)
}

/** Tasks whose fencing tokens do not grow from claim to claim. */
async function repeatedTokens(db: Database): Promise<number> {
  const rows = await db`
    select 1
    from (
      select (payload ->> 'fencingToken')::int as token,
             lag((payload ->> 'fencingToken')::int) over (
               partition by tenant_id, entity_id order by journal_epoch, tx_id, sequence) as before
      from events
      where type = 'task.claimed') as claims
    where token <= before`
  return rows.length
}

function add(to: Acknowledged, { observations, claims, releases }: Acknowledged): void {
  to.observations.push(...observations)
  to.claims.push(...claims)
  to.releases.push(...releases)
}

describe('everything in one process, killed while many write', () => {
  const timeout = 60_000 * (ROUNDS + 1)
  it(`loses nothing acknowledged and doubles nothing, ${ROUNDS} times`, { timeout }, async (t) => {
    const folder = await temporaryFolder(t)
    const known: Acknowledged = { observations: [], claims: [], releases: [] }
    const contents: string[] = []
    let all = await startAll(t, folder)
    for (let round = 1; round <= ROUNDS; round += 1) {
      const { acknowledged, cut } = writeUntilCut(all.admin)
      await waitFor(() => countOf(acknowledged) >= 50 + 17 * round, 60)
      all.kill('SIGKILL')
      assert.equal(await all.ended, null)
      const unanswered = await cut
      add(known, acknowledged)
      contents.push(...acknowledged.observations.map(({ content }) => content))
      contents.push(...unanswered.map(({ content }) => content))

      all = await startAll(t, folder)
      await checkReadable(all.admin, acknowledged)
      await repeat(all.admin, unanswered)
    }
    await caughtUp(all.admin)
    all.kill('SIGTERM')
    assert.equal(await all.ended, 0, all.said())

    await lookInto(folder, async (db, memoryDb) => {
      assert.deepEqual(await notOnce(db, known, contents), [])
      assert.equal(await repeatedTokens(db), 0)
      const { expected, missing, tooMuch } = await toldOnce(db, memoryDb)
      assert.ok(expected >= known.observations.length + known.claims.length)
      assert.deepEqual(missing, [])
      assert.deepEqual(tooMuch, [])
    })
  })

  it('ends with one sentence when its database is killed, and goes on with all of it, heard or not', async (t) => {
    const folder = await temporaryFolder(t)
    const all = await startAll(t, folder)
    const { acknowledged, cut } = writeUntilCut(all.admin)
    await waitFor(() => countOf(acknowledged) >= 40, 60)

    const pidFile = join(folder, 'pg/data/postmaster.pid')
    process.kill(Number.parseInt(await readFile(pidFile, 'utf8'), 10), 'SIGKILL')

    assert.equal(await all.ended, 2, all.said())
    await cut
    assert.match(all.told(), /^strata: The embedded database has ended[^\n]*$/m)
    assert.doesNotMatch(all.told(), /\n {4}at /)
    const again = await startAll(t, folder)
    again.hangUp()
    await checkReadable(again.admin, acknowledged)
    await caughtUp(again.admin)
    again.kill('SIGTERM')
    assert.equal(await again.ended, 0, again.said())
    const { missing, tooMuch } = await lookInto(folder, toldOnce)
    assert.deepEqual([missing, tooMuch], [[], []])
  })
})
