import assert from 'node:assert/strict'
import { it } from 'node:test'
import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { ownDb } from '../../test/support/db.ts'
import { waitFor } from '../../test/support/wait.ts'
import { countEventsAfter, readEvents, readTail } from './read.ts'

const EVENTS = 20_000
const CHUNK = 1000
const LIMIT = 100

/** Rows of the journal that `work` reads in a transaction of its own. */
async function rowsRead(db: Database, work: (sql: Sql) => Promise<unknown>): Promise<number> {
  return await transaction(db, 'read only', async (sql) => {
    const before = await rowsReadSoFar(sql)
    await work(sql)
    return (await rowsReadSoFar(sql)) - before
  })
}

async function rowsReadSoFar(sql: Sql): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select (seq_tup_read + idx_tup_fetch)::int as count
    from pg_stat_xact_user_tables
    where relname = 'events'`
  return row.count
}

it('a page of the journal reads no more than itself, wherever it is and whatever the planner knows', async (t) => {
  const db = await ownDb(t, 'control-plane')
  const { ctx } = await testTenant(db)
  for (let made = 0; made < EVENTS; made += CHUNK) {
    await db`
      insert into events
        (tenant_id, journal_epoch, id, type, entity_type, entity_id, entity_version, payload)
      select ${ctx.tenantId}, journal_epoch, gen_random_uuid(), 'task.created', 'task', n::text, 1, '{}'
      from journal_state, generate_series(1, ${CHUNK}::int) as n`
  }
  await db`vacuum analyze events`
  // Other transactions on the server may hold events back for a while.
  await waitFor(async () => {
    const { events } = await readEvents(db, ctx, { limit: EVENTS })
    return events.length === EVENTS
  })
  const { next: middle } = await readEvents(db, ctx, { limit: EVENTS / 2 })
  const works = {
    first: (sql: Sql) => readEvents(sql, ctx, { limit: LIMIT }),
    after: (sql: Sql) => readEvents(sql, ctx, { after: middle, limit: LIMIT }),
    before: (sql: Sql) => readTail(sql, ctx, { before: middle, limit: LIMIT }),
    tail: (sql: Sql) => readTail(sql, ctx, { limit: LIMIT }),
    count: (sql: Sql) => countEventsAfter(sql, ctx, middle, LIMIT),
  }
  for (const [name, work] of Object.entries(works)) {
    const count = await rowsRead(db, work)
    assert.ok(count <= 2 * LIMIT, `${name} reads ${count} rows`)
  }
})
