import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import * as calls from '#contract/skill-invocations.ts'
import type { Database, Sql } from '#db/sql.ts'
import { callStage, claimed } from '../../test/support/calls.ts'
import type { CallStage } from '../../test/support/calls.ts'
import { ownDb, sharedDb } from '../../test/support/db.ts'
import { selectClaimable, selectInvocations } from './invocation.sql.ts'

const db = await sharedDb()

describe('the calls that are listed', () => {
  it('are narrowed, newest first, and for executors the oldest that is free comes first', async () => {
    const { client, caller, skill, invoke, newExecutor } = await callStage(db)
    const [first, second, third] = [await invoke(), await invoke(), await invoke()]
    const executor = await newExecutor()
    await claimed(executor, second.id)
    const ids = async (query: object, who = client) =>
      (await call(who, calls.listInvocations, { query })).items.map(({ id }) => id)
    assert.deepEqual(await ids({}), [third.id, second.id, first.id])
    assert.deepEqual(await ids({ status: 'running' }), [second.id])
    assert.deepEqual(await ids({ skillId: skill.id, protocol: 'http' }, caller), await ids({}))
    assert.deepEqual(await ids({ protocol: 'mcp' }), [])
    const query = { claimable: 'true' as const, limit: '1' }
    const page = await call(executor, calls.listInvocations, { query })
    const next = await ids({ ...query, cursor: page.nextCursor ?? '' }, executor)
    assert.deepEqual([page.items[0]?.id, ...next], [first.id, third.id])
  })

  it('are found by an index among many', async (t) => {
    const pool = await ownDb(t, 'control-plane')
    const stage = await callStage(pool)
    await fill(pool, stage)
    const { ctx, caller, skill } = stage
    // Reads are counted by connection until they are flushed.
    const one = await pool.reserve()
    try {
      const page = { listing: 'test', limit: 50, after: undefined }
      const narrowings = [
        {},
        { invokedBy: caller.ctx.actorId },
        { skillId: skill.id },
        { protocol: 'http' },
      ]
      for (const narrowing of narrowings) {
        const before = await wholeReads(one)
        const found = await selectInvocations(one, ctx, { page, ...narrowing })
        assert.equal(found.length, page.limit + 1)
        const free = await selectClaimable(one, ctx, { page, ...narrowing })
        assert.equal(free.length, 20)
        assert.equal(await wholeReads(one), before, JSON.stringify(narrowing))
      }
    } finally {
      one.release()
    }
  })
})

/** Calls of which one in a thousand still waits. */
async function fill(own: Database, { ctx, caller, skill }: CallStage): Promise<void> {
  await own`
    insert into skill_invocations
      (tenant_id, id, skill_id, invoked_by, inputs, status, outputs, fencing_token, executor_id,
       finished_at, created_at)
    select ${ctx.tenantId}, gen_random_uuid(), ${skill.id}, ${caller.ctx.actorId}, '{}',
           case when waits then 'pending' else 'succeeded' end,
           case when not waits then '{}'::jsonb end,
           case when waits then 0 else 1 end,
           case when not waits then ${caller.ctx.actorId}::uuid end,
           case when not waits then now() end,
           now() - make_interval(secs => n)
    from (select n, n % 1000 = 0 as waits from generate_series(1, 20000) n) as numbered`
  await own`analyze`
}

/** How often the table was read from end to end so far. */
async function wholeReads(sql: Sql): Promise<string | undefined> {
  await sql`select pg_stat_force_next_flush()`
  const [row] = await sql<{ seqScan: string }[]>`
    select seq_scan
    from pg_stat_user_tables
    where relname = 'skill_invocations'`
  return row?.seqScan
}
