import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownDb, sharedDb } from '../../test/support/db.ts'
import type { NewEvent } from '#contract/events.ts'
import type { Database } from '#db/sql.ts'
import { newId } from '#lib/id.ts'
import type { Ctx } from '#lib/ctx.ts'
import { appendEvent, appendEvents, lockEntities } from './append.ts'
import { ORIGIN } from './cursor.ts'
import type { Position } from './cursor.ts'
import { countEventsAfter, currentPosition, readEvents } from './read.ts'

const db = await sharedDb()

async function journalCtx(database: Database = db): Promise<Ctx> {
  const tenantId = newId()
  await database`
    insert into tenants (tenant_id, slug, name) values (${tenantId}, ${`t-${tenantId}`}, 'Test')`
  return {
    tenantId,
    actorId: newId(),
    credentialId: null,
    permissions: new Set(['admin']),
    requestId: 'request',
    correlationId: 'correlation',
    traceRunId: 'trace',
    wake: () => {},
    now: () => new Date(),
    signal: AbortSignal.timeout(30_000),
  }
}

function renamed(entityId: string, entityVersion: number): NewEvent {
  return {
    type: 'workspace.updated',
    payload: { changes: ['name'], version: entityVersion },
    entityType: 'workspace',
    entityId,
    entityVersion,
    workspaceId: entityId,
  }
}

/** Reads until `count` events are there: another test's open transaction may hold the horizon. */
async function readAll(database: Database, ctx: Ctx, count: number, after: Position = ORIGIN) {
  for (;;) {
    const page = await readEvents(database, ctx, { after, limit: 200 })
    if (page.events.length >= count) return page
    ctx.signal.throwIfAborted()
  }
}

describe('readEvents', () => {
  it('gives events in the order they were appended, each with a cursor to go on from', async () => {
    const ctx = await journalCtx()
    const id = newId()
    await db.begin((sql) =>
      appendEvents(sql, ctx, [renamed(id, 1), renamed(id, 2), renamed(id, 3)]),
    )

    const { events, hasMore } = await readAll(db, ctx, 3)
    assert.deepEqual(
      events.map((event) => event.entityVersion),
      [1, 2, 3],
    )
    assert.equal(hasMore, false)
    const first = await readEvents(db, ctx, { after: ORIGIN, limit: 1 })
    assert.equal(first.hasMore, true)
    const rest = await readEvents(db, ctx, { after: first.next, limit: 200 })
    assert.deepEqual(
      rest.events.map((event) => event.id),
      events.slice(1).map((event) => event.id),
    )
  })

  it('loses nothing when a transaction with a smaller sequence commits later', async (t) => {
    const own = await ownDb(t, 'control-plane', 'app')
    const ctx = await journalCtx(own)
    const [slow, quick] = [newId(), newId()]
    const blocked = Promise.withResolvers<void>()
    const appended = Promise.withResolvers<void>()
    const writing = own.begin(async (sql) => {
      await appendEvent(sql, ctx, renamed(slow, 1))
      appended.resolve()
      await blocked.promise
    })
    await appended.promise
    await own.begin((sql) => appendEvent(sql, ctx, renamed(quick, 1)))

    const early = await readEvents(own, ctx, { after: ORIGIN, limit: 200 })
    assert.deepEqual([...early.events], [], 'the later event waits for the open transaction')
    blocked.resolve()
    await writing
    const late = await readAll(own, ctx, 2, early.next)
    assert.deepEqual(
      late.events.map((event) => event.entityId),
      [slow, quick],
    )
  })

  it('orders the events of one entity by its versions, whoever began first', async () => {
    const ctx = await journalCtx()
    const id = newId()
    const entity = { type: 'workspace', id }
    const holds = Promise.withResolvers<void>()
    const release = Promise.withResolvers<void>()
    const second = db.begin(async (sql) => {
      await lockEntities(sql, ctx, [entity])
      holds.resolve()
      await release.promise
      await appendEvent(sql, ctx, renamed(id, 1))
    })
    await holds.promise
    const first = db.begin(async (sql) => {
      await lockEntities(sql, ctx, [entity])
      await appendEvent(sql, ctx, renamed(id, 2))
    })
    release.resolve()
    await Promise.all([second, first])

    const { events } = await readAll(db, ctx, 2)
    assert.deepEqual(
      events.map((event) => event.entityVersion),
      [1, 2],
    )
  })

  it('takes a filtered reader past what it did not want', async () => {
    const ctx = await journalCtx()
    await db.begin((sql) => appendEvents(sql, ctx, [renamed(newId(), 1), renamed(newId(), 1)]))
    await readAll(db, ctx, 2)

    const filter = { types: ['task.'] }
    const page = await readEvents(db, ctx, { after: ORIGIN, limit: 10, filter })
    assert.deepEqual([...page.events], [])
    assert.deepEqual(page.next, await currentPosition(db, ctx))
    assert.deepEqual(await countEventsAfter(db, ctx, page.next, 10), { count: 0, firstAt: null })
    const prefix = await readEvents(db, ctx, {
      after: ORIGIN,
      limit: 1,
      filter: { types: ['work'] },
    })
    assert.equal(prefix.events.length, 1)
    assert.equal(prefix.hasMore, true)
  })

  it('shows a tenant nothing of another', async () => {
    const [ours, theirs] = [await journalCtx(), await journalCtx()]
    await db.begin((sql) => appendEvent(sql, theirs, renamed(newId(), 1)))
    await readAll(db, theirs, 1)
    assert.deepEqual(await currentPosition(db, ours), ORIGIN)
    const page = await readEvents(db, ours, { after: ORIGIN, limit: 10 })
    assert.deepEqual([...page.events], [])
  })
})

describe('events', () => {
  for (const statement of [
    'update events set type = type',
    'delete from events',
    'truncate events',
  ]) {
    it(`refuse "${statement}"`, async (t) => {
      const own = await ownDb(t, 'control-plane')
      const ctx = await journalCtx(own)
      await own.begin((sql) => appendEvent(sql, ctx, renamed(newId(), 1)))
      await assert.rejects(own.unsafe(statement), /append-only/)
    })
  }
})
