import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { selectComments } from '#comments/comment.sql.ts'
import type { PageRequest } from '#db/page.ts'
import type { Database, Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { selectReferenceByKey, selectReferences } from '#references/reference.sql.ts'
import { selectLeadsTo, selectRelations } from '#relations/relation.sql.ts'
import { testTenant } from './support/ctx.ts'
import { ownDb } from './support/db.ts'
import { selectApprovals } from '#approvals/approval.sql.ts'
import { selectClosedGates, selectLastDecision } from '#work/gate.sql.ts'
import { selectOpenDependencies } from '#work/readiness.sql.ts'
import { selectAvailableTasks, selectTasks } from '#work/task-list.sql.ts'
import { lockTaskRow } from '#work/locked-task.sql.ts'
import { selectTask } from '#work/task.sql.ts'

const TASKS = 100_000
const CHUNK = 10_000

/** Tables that the statements under test must find their rows in by an index. */
const TABLES = ['tasks', 'task_relations', 'task_comments', 'external_references', 'approvals']

/** A tenant with many tasks, half of them finished, a tenth waiting for another. */
async function fill(db: Database, { tenantId, actorId }: Ctx, person: string): Promise<string> {
  for (let first = 1; first <= TASKS; first += CHUNK) {
    await db`
      insert into tasks
        (tenant_id, id, number, title, type_key, type_version, status, status_category, priority,
         created_by)
      select ${tenantId}, gen_random_uuid(), n, 'Task', 'default', 1,
             case when n % 2 = 0 then 'completed' else 'open' end,
             case when n % 2 = 0 then 'terminal_success' else 'open' end, 'low', ${actorId}
      from generate_series(${first}::int, ${first + CHUNK - 1}::int) n`
  }
  await db`
    insert into task_relations (tenant_id, id, type, from_task_id, to_task_id, created_by)
    select ${tenantId}, gen_random_uuid(), 'depends_on', f.id, t.id, ${actorId}
    from tasks f
    join tasks t on t.tenant_id = f.tenant_id and t.number = f.number + 2
    where f.tenant_id = ${tenantId}
      and f.number % 10 = 1`
  await db`
    insert into task_comments (tenant_id, id, task_id, author_id, body)
    select tenant_id, gen_random_uuid(), id, ${actorId}, 'Comment'
    from tasks
    where tenant_id = ${tenantId}
      and number % 5 = 0`
  await db`
    insert into external_references
      (tenant_id, id, system, type, external_id, task_id, created_by)
    select tenant_id, gen_random_uuid(), 'tracker', 'issue', number::text, id, ${actorId}
    from tasks
    where tenant_id = ${tenantId}
      and number % 5 = 0`
  await db`
    insert into approvals
      (tenant_id, id, task_id, task_revision, assigned_principal_id, gate, after_attempt, status,
       requested_by, decided_by, decided_at)
    select tenant_id, gen_random_uuid(), id, 1, ${person}, true, 0,
           case when number % 2 = 0 then 'approved' else 'pending' end, ${actorId},
           case when number % 2 = 0 then ${person}::uuid end,
           case when number % 2 = 0 then clock_timestamp() end
    from tasks
    where tenant_id = ${tenantId}
      and number % 5 = 0`
  await db`analyze`
  const [task] = await db<[{ id: string }]>`
    select id
    from tasks
    where tenant_id = ${tenantId}
      and number = 11`
  return task.id
}

/** How often each table was read from end to end so far. */
async function wholeReads(db: Sql): Promise<Record<string, string>> {
  await db`select pg_stat_force_next_flush()`
  const rows = await db<{ relname: string; seqScan: string }[]>`
    select relname, seq_scan
    from pg_stat_user_tables
    where relname = any(${TABLES})`
  return Object.fromEntries(rows.map(({ relname, seqScan }) => [relname, seqScan]))
}

describe('among 100,000 tasks', () => {
  it('everything that an agent asks before it works is found by an index', async (t) => {
    const pool = await ownDb(t, 'control-plane')
    const { ctx, caller } = await testTenant(pool)
    const { actorId: principalId } = (await caller(['approvals.decide'], 'human')).ctx
    const id = await fill(pool, ctx, principalId)
    // Reads are counted by connection until they are flushed.
    const db = await pool.reserve()
    try {
      const page: PageRequest = { listing: 'test', limit: 50, after: undefined }
      const key = { system: 'tracker', type: 'issue', externalId: '5' }
      const statements = {
        selectTask: () => selectTask(db, ctx, 'TASK-000011'),
        lockTaskRow: () => lockTaskRow(db, ctx, id),
        selectOpenDependencies: () => selectOpenDependencies(db, ctx, { id, limit: 20 }),
        selectClosedGates: () => selectClosedGates(db, ctx, { id, limit: 20 }),
        selectLastDecision: () => selectLastDecision(db, ctx, id),
        selectApprovals: () => selectApprovals(db, ctx, { page, taskId: id, status: 'pending' }),
        selectApprovalsToDecide: () =>
          selectApprovals(db, ctx, {
            page,
            status: 'pending',
            addressee: { principalId, roleIds: [id] },
            notBy: principalId,
          }),
        selectAvailableTasks: () => selectAvailableTasks(db, ctx, { page }),
        selectTasks: () => selectTasks(db, ctx, { page }),
        selectTasksByGoal: () => selectTasks(db, ctx, { page, goalId: id }),
        selectRelations: () =>
          selectRelations(db, ctx, { page, taskId: id, type: undefined, direction: 'both' }),
        selectLeadsTo: () =>
          selectLeadsTo(db, ctx, { type: 'depends_on', fromTaskId: id, toTaskId: id }),
        selectComments: () => selectComments(db, ctx, { page, taskId: id }),
        selectReferenceByKey: () => selectReferenceByKey(db, ctx, key),
        selectReferences: () => selectReferences(db, ctx, { page, entity: { type: 'task', id } }),
      }

      for (const [name, statement] of Object.entries(statements)) {
        const before = await wholeReads(db)
        await statement()
        assert.deepEqual(await wholeReads(db), before, name)
      }
      assert.equal((await statements.selectAvailableTasks()).length, page.limit + 1)
      assert.equal((await statements.selectOpenDependencies()).length, 1)
    } finally {
      db.release()
    }
  })
})
