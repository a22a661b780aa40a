import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { insertMissingConsumers, rewindConsumer } from '#events/consumers.ts'
import { comparePositions, ORIGIN } from '#events/cursor.ts'
import { selectFloors } from '#events/floors.ts'
import { currentPosition, readEvents } from '#events/read.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { ownDb } from '../../test/support/db.ts'
import { waitFor } from '../../test/support/wait.ts'
import { retainJournals } from './retain-journals.ts'

const NAME = 'context-adapter'
const ALL = { minAgeSeconds: 0, pruneAfterSeconds: undefined, withoutConsumer: false }

async function twoTenants(t: TestContext) {
  const db = await ownDb(t, 'control-plane', 'app')
  const tenants = [await testTenant(db), await testTenant(db)] as const
  await waitFor(async () => {
    const heads = await Promise.all(tenants.map(({ ctx }) => currentPosition(db, ctx)))
    return heads.every((head) => comparePositions(head, ORIGIN) > 0)
  })
  return { db, one: tenants[0].ctx, other: tenants[1].ctx }
}

describe('retainJournals', () => {
  it('archives what the consumers of each tenant have read, and tells readers of the note', async (t) => {
    const { db, one, other } = await twoTenants(t)
    await insertMissingConsumers(db, NAME)
    const head = await currentPosition(db, one)
    await rewindConsumer(db, NAME, { tenantId: one.tenantId, to: head })
    const woken: string[] = []
    await retainJournals(db, ALL, (tenantId) => woken.push(tenantId))
    assert.deepEqual(woken, [one.tenantId])
    assert.deepEqual((await selectFloors(db, one)).archived, head)
    assert.deepEqual((await selectFloors(db, other)).archived, ORIGIN)
    assert.deepEqual((await selectFloors(db, one)).pruned, ORIGIN)
  })

  it('does nothing to what is young, and nothing where nothing reads', async (t) => {
    const { db, one } = await twoTenants(t)
    await retainJournals(db, ALL)
    await retainJournals(db, { ...ALL, minAgeSeconds: 60, withoutConsumer: true })
    assert.equal((await selectFloors(db, one)).version, 0)
  })

  it('deletes archived events only when it is told from which age on', async (t) => {
    const { db, one } = await twoTenants(t)
    const settings = { ...ALL, withoutConsumer: true }
    const { events } = await readEvents(db, one, { limit: 200 })
    await retainJournals(db, settings)
    const kept = await readEvents(db, one, { limit: 200 })
    assert.deepEqual(
      kept.events.slice(0, events.length).map(({ id }) => id),
      events.map(({ id }) => id),
    )
    await retainJournals(db, { ...settings, pruneAfterSeconds: 3600 })
    assert.deepEqual((await selectFloors(db, one)).pruned, ORIGIN)
    await retainJournals(db, { ...settings, pruneAfterSeconds: 0 })
    const rest = await readEvents(db, one, { limit: 200 })
    assert.ok(rest.events.every(({ type }) => type.startsWith('event_journal.')))
  })
})
