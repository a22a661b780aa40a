import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { listEvents } from '#contract/events-api.ts'
import { archiveJournal, getJournalStatus, pruneJournal } from '#contract/journal-operations.ts'
import { getAdapterStatus, rebuildAdapter } from '#contract/operations.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import type { Database } from '#db/sql.ts'
import { CONTEXT_ADAPTER, selectConsumer } from '#events/consumers.ts'
import { encodeCursor, ORIGIN } from '#events/cursor.ts'
import type { Position } from '#events/cursor.ts'
import { countEventsAfter, currentPosition } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { waitFor } from '../../test/support/wait.ts'
import { wholeApp } from '../../test/support/whole.ts'

const db = await sharedDb()
const app = wholeApp(db, null)
const REASON = { reason: 'test' }

/** A tenant with some events that readers see, and a consumer that has read them all, or up to a place. */
async function tenantWith(count: number, options: { consumer?: 'end' | 'none' } = {}) {
  const tenant = await testTenant(db)
  const client = testClient(app, tenant.key)
  for (let n = 0; n < count; n += 1) {
    await call(client, createWorkspace, { body: { slug: `w${n}`, name: 'A workspace' } })
  }
  const ids = await settled(client, tenant.ctx)
  if (options.consumer !== 'none')
    await moveConsumer(tenant.ctx, await currentPosition(db, tenant.ctx))
  return { ...tenant, client, ids }
}

/** Ids of all events, once none is held back by a transaction elsewhere on the server. */
async function settled(client: ClientOptions, ctx: Ctx): Promise<string[]> {
  await waitFor(async () => {
    const { count } = await countEventsAfter(db, ctx, await currentPosition(db, ctx), 10)
    return count === 0
  })
  return await idsOf(client)
}

async function moveConsumer(ctx: Ctx, { journalEpoch, txId, sequence }: Position): Promise<void> {
  await db`
    insert into event_consumer_cursors (name, tenant_id, journal_epoch, tx_id, sequence)
    values (${CONTEXT_ADAPTER}, ${ctx.tenantId}, ${journalEpoch}, ${txId}::xid8, ${sequence})
    on conflict (name, tenant_id) do update
    set journal_epoch = excluded.journal_epoch, tx_id = excluded.tx_id, sequence = excluded.sequence`
}

/** Reads the whole journal page by page. */
async function idsOf(client: ClientOptions, query: { types?: string } = {}): Promise<string[]> {
  const ids: string[] = []
  let after: string | undefined
  for (let more = true; more;) {
    const page = await call(client, listEvents, {
      query: { ...query, limit: '3', ...(after !== undefined && { after }) },
    })
    ids.push(...page.items.map(({ id }) => id))
    after = page.nextCursor
    more = page.hasMore
  }
  return ids
}

async function countRows(table: 'events' | 'events_archive', { tenantId }: Ctx): Promise<number> {
  const [row] = await db<{ count: number }[]>`
    select count(*)::int as count
    from ${db(table)}
    where tenant_id = ${tenantId}`
  return row?.count ?? 0
}

describe('POST /operations/journal:archive', () => {
  it('moves the oldest events, which readers and filters find as before', async () => {
    const { client, ctx, ids } = await tenantWith(6)
    const filtered = await idsOf(client, { types: 'workspace.' })
    const moved = await call(client, archiveJournal, { body: { ...REASON, maxEvents: 4 } })
    assert.equal(moved.events, 4)
    assert.equal(moved.limitedBy, 'max_events')
    assert.equal(await countRows('events_archive', ctx), 4)
    const [{ items }, after] = [
      await call(client, listEvents, { query: { types: 'event_journal.' } }),
      await settled(client, ctx),
    ]
    assert.deepEqual(items[0]?.payload, {
      fromCursor: encodeCursor(ORIGIN),
      toCursor: moved.journalFloorCursor,
      events: 4,
      reason: 'test',
    })
    assert.deepEqual(after.slice(0, ids.length), ids)
    assert.deepEqual(await idsOf(client, { types: 'workspace.' }), filtered)
    const tail = await call(client, listEvents, { query: { tail: '200' } })
    assert.deepEqual(
      tail.items.map(({ id }) => id),
      after,
    )
    const back = await call(client, listEvents, {
      query: { before: moved.journalFloorCursor ?? '', limit: '2' },
    })
    assert.deepEqual(
      back.items.map(({ id }) => id),
      ids.slice(1, 3),
    )
  })

  it('takes nothing of another tenant, neither hot nor archived', async () => {
    const [ours, theirs] = [await tenantWith(3), await tenantWith(3)]
    await call(theirs.client, archiveJournal, { body: { ...REASON, maxEvents: 2 } })
    const before = await Promise.all([
      countRows('events', theirs.ctx),
      countRows('events_archive', theirs.ctx),
    ])
    await call(ours.client, archiveJournal, { body: REASON })
    await call(ours.client, pruneJournal, { body: REASON })
    assert.equal(await countRows('events_archive', ours.ctx), 0)
    const after = await Promise.all([
      countRows('events', theirs.ctx),
      countRows('events_archive', theirs.ctx),
    ])
    assert.deepEqual(after, before)
    assert.deepEqual((await idsOf(theirs.client)).slice(0, theirs.ids.length), theirs.ids)
    const status = await call(theirs.client, getJournalStatus)
    assert.equal(status.archiveFloorCursor, null)
  })

  it('is refused while no consumer has a place, unless that is meant', async () => {
    const { client } = await tenantWith(2, { consumer: 'none' })
    await assert.rejects(call(client, archiveJournal, { body: REASON }), {
      code: 'retention_blocked_by_consumer',
    })
    const body = { ...REASON, withoutConsumer: true }
    assert.ok((await call(client, archiveJournal, { body })).events > 0)
  })

  it('stops at the slowest consumer, and is refused when there is nothing before it', async () => {
    const { client, ctx } = await tenantWith(4)
    const { items } = await call(client, listEvents, { query: { limit: '2' } })
    await moveConsumer(ctx, ORIGIN)
    await assert.rejects(call(client, archiveJournal, { body: REASON }), (error) => {
      const { code, details } = error as { code?: string; details?: Record<string, unknown> }
      assert.equal(code, 'retention_blocked_by_consumer')
      assert.equal(details?.['consumer'], CONTEXT_ADAPTER)
      assert.equal(details?.['consumerCursor'], encodeCursor(ORIGIN))
      return true
    })
    const { txId = '', sequence = '' } = items[1] ?? {}
    await moveConsumer(ctx, { journalEpoch: 1, txId, sequence })
    const moved = await call(client, archiveJournal, { body: REASON })
    assert.deepEqual([moved.events, moved.limitedBy], [2, 'consumer'])
    assert.equal(moved.journalFloorCursor, items[1]?.cursor)
  })

  it('leaves what is too young', async () => {
    const { client } = await tenantWith(2)
    const body = { ...REASON, minAgeSeconds: 3600 }
    const moved = await call(client, archiveJournal, { body })
    assert.deepEqual([moved.events, moved.limitedBy], [0, 'age'])
    assert.equal(moved.journalFloorCursor, null)
  })
})

describe('POST /operations/journal:prune', () => {
  it('removes archived events; a cursor before them is refused with the floor', async () => {
    const { client, ids, ctx } = await tenantWith(5)
    const { items } = await call(client, listEvents)
    await call(client, archiveJournal, { body: { ...REASON, maxEvents: 4 } })
    const pruned = await call(client, pruneJournal, { body: { ...REASON, maxEvents: 3 } })
    assert.equal(pruned.events, 3)
    assert.equal(pruned.archiveFloorCursor, items[2]?.cursor)
    const requestedCursor = items[1]?.cursor ?? ''
    const floorCursor = items[2]?.cursor ?? ''
    for (const query of [{ after: requestedCursor }, { before: requestedCursor }]) {
      await assert.rejects(call(client, listEvents, { query }), (error) => {
        const { code, details } = error as { code?: string; details?: Record<string, unknown> }
        assert.equal(code, 'cursor_below_journal_floor')
        assert.deepEqual(
          [details?.['floorCursor'], details?.['requestedCursor']],
          [floorCursor, requestedCursor],
        )
        return true
      })
    }
    const rest = await settled(client, ctx)
    assert.deepEqual(rest.slice(0, ids.length - 3), ids.slice(3))
    const fromFloor = await call(client, listEvents, { query: { after: floorCursor, limit: '1' } })
    assert.equal(fromFloor.items[0]?.id, ids[3])
    const { journal } = await call(client, getAdapterStatus)
    assert.deepEqual(journal, {
      journalFloorCursor: items[3]?.cursor,
      archiveFloorCursor: floorCursor,
    })
  })

  it('goes no further than a consumer that was sent back, which may not be sent below it', async () => {
    const { client, ctx } = await tenantWith(5)
    const { items } = await call(client, listEvents)
    await call(client, archiveJournal, { body: REASON })
    await call(client, pruneJournal, { body: { ...REASON, maxEvents: 1 } })
    const params = { tenantId: ctx.tenantId }
    await assert.rejects(call(client, rebuildAdapter, { params, body: REASON }), {
      code: 'cursor_below_journal_floor',
    })
    const cursor = items[1]?.cursor ?? ''
    await call(client, rebuildAdapter, { params, body: { ...REASON, cursor } })
    const pruned = await call(client, pruneJournal, { body: REASON })
    assert.deepEqual([pruned.events, pruned.limitedBy], [1, 'consumer'])
    const row = await selectConsumer(db, CONTEXT_ADAPTER, ctx.tenantId)
    assert.equal(row && encodeCursor(row.position), cursor)
  })

  it('lets an emptied journal be read on from its floor', async () => {
    const { client, ctx } = await tenantWith(1)
    await call(client, archiveJournal, { body: REASON })
    await settled(client, ctx)
    await moveConsumer(ctx, await currentPosition(db, ctx))
    await call(client, archiveJournal, { body: REASON })
    await call(client, pruneJournal, { body: REASON })
    await db.begin(async (sql) => {
      await sql`select set_config('strata.archiving', 'on', true)`
      await sql`delete from events where tenant_id = ${ctx.tenantId}`
    })
    const { archiveFloorCursor } = await call(client, getJournalStatus)
    const page = await call(client, listEvents)
    assert.deepEqual([page.items, page.nextCursor], [[], archiveFloorCursor])
    const filtered = await call(client, listEvents, { query: { types: 'task.' } })
    assert.equal(filtered.nextCursor, archiveFloorCursor)
    const tail = await call(client, listEvents, { query: { tail: '5' } })
    assert.equal(tail.nextCursor, archiveFloorCursor)
  })
})

describe('a reader beside the archiving', () => {
  it('sees every event once and in order, however the move falls', async (t) => {
    const { client, ids, key } = await tenantWith(40)
    const readers = Array.from({ length: 4 }, () => readUntil(t, client, ids.length))
    const mover = testClient(app, key)
    for (let left = ids.length; left > 0; left -= 3) {
      await call(mover, archiveJournal, { body: { ...REASON, maxEvents: 3 } })
    }
    for (const seen of await Promise.all(readers)) {
      for (const pass of seen) assert.deepEqual(pass, ids)
    }
  })
})

/** Reads the first events again and again, in pages of three, while others move them. */
async function readUntil(
  t: TestContext,
  client: ClientOptions,
  count: number,
): Promise<string[][]> {
  const passes: string[][] = []
  while (passes.length < 8 && !t.signal.aborted) passes.push((await idsOf(client)).slice(0, count))
  return passes
}

describe('the archive', () => {
  for (const statement of ['update events_archive set type = type', 'delete from events_archive']) {
    it(`refuses "${statement}"`, async () => {
      const { client, ctx } = await tenantWith(1)
      await call(client, archiveJournal, { body: REASON })
      const scoped = `${statement} where tenant_id = '${ctx.tenantId}'`
      await assert.rejects(refused(db, scoped), /append-only/)
    })
  }
})

async function refused(sql: Database, statement: string): Promise<void> {
  await sql.unsafe(statement)
}
