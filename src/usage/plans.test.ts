import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { selectCommitted } from '#accounting/committed.sql.ts'
import type { PageRequest } from '#db/page.ts'
import type { Database, Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { selectActiveRuns, selectRun, selectRuns, selectSuspendedRuns } from '#runs/run.sql.ts'
import { addTask, startTask } from '../../test/support/context.ts'
import { testCtx } from '../../test/support/ctx.ts'
import { ownDb } from '../../test/support/db.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { selectReport, selectReports } from './report.sql.ts'
import { selectNeighbours } from './series.sql.ts'
import { selectUsageByModel } from './sums.sql.ts'

const RUNS = 10_000
/** Rows of these tables that a statement may read, for a page of 50. */
const MAX_READ = 1000
const TABLES = ['runs', 'run_usage', 'usage_reports', 'usage_lines', 'usage_months']

/** Many runs of one task, each with a report of totals of one session, and months of many others. */
async function fill(db: Database, { tenantId, actorId }: Ctx, runId: string): Promise<void> {
  await db`
    insert into runs
      (tenant_id, id, task_id, claim_id, session_id, principal_id, fencing_token, attempt, status,
       finished_at, created_at)
    select r.tenant_id, gen_random_uuid(), r.task_id, r.claim_id, r.session_id, r.principal_id, 1,
           n + 1, case when n % 2 = 0 then 'failed' else 'suspended' end, now(),
           now() - make_interval(secs => n)
    from runs r, generate_series(1, ${RUNS}::int) n
    where r.tenant_id = ${tenantId}
      and r.id = ${runId}`
  await db`
    insert into run_usage
      (tenant_id, run_id, last_sequence, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, reasoning_tokens, unpriced_tokens)
    select tenant_id, id, 1, 1, 0, 0, 0, 0, 1
    from runs
    where tenant_id = ${tenantId}`
  await db`
    insert into usage_reports
      (tenant_id, run_id, sequence, id, mode, cli_session_id, fingerprint, fencing_token)
    select tenant_id, id, 1, gen_random_uuid(), 'cumulative', 'thread-1', repeat('0', 64), 1
    from runs
    where tenant_id = ${tenantId}`
  await db`
    insert into usage_lines
      (tenant_id, run_id, sequence, position, provider, model, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, reasoning_tokens, unpriced_tokens, unpriced,
       is_new_session, principal_id, run_started_at, cli_session_id, series, figures)
    select tenant_id, id, 1, 1, '', 'large', 1, 0, 0, 0, 0, 1, 'unknown_model', false, ${actorId},
           created_at, 'thread-1', 'all', '{}'
    from runs
    where tenant_id = ${tenantId}`
  await db`
    insert into usage_months (tenant_id, principal_id, month, tokens, cost)
    select tenant_id, ${actorId}, date '0100-01-01' + make_interval(months => n), 1, 0
    from workspaces, generate_series(1, ${RUNS}::int) n
    where tenant_id = ${tenantId}`
  await db`analyze runs, tasks, run_usage, usage_reports, usage_lines, usage_months`
}

/** Rows that were read so far, in whatever way. */
async function rowsRead(db: Sql): Promise<number> {
  await db`select pg_stat_force_next_flush()`
  const [row] = await db<[{ read: number }]>`
    select sum(seq_tup_read + idx_tup_fetch)::float8 as read
    from pg_stat_user_tables
    where relname = any(${TABLES})`
  return row.read
}

describe('among 10,000 runs', () => {
  it('none is read but those that are shown or counted', async (t) => {
    const pool = await ownDb(t, 'control-plane')
    const ctx = await testCtx(pool)
    const { workspaceId, project } = await projectsOf(pool, ctx).place()
    const task = await addTask(pool, ctx, { workspaceId })
    const { runId } = await startTask(pool, ctx, task.id)
    await fill(pool, ctx, runId)
    const db = await pool.reserve()
    try {
      const page: PageRequest = { listing: 'test', limit: 50, after: undefined }
      const all = { page, taskId: undefined, status: undefined }
      const series = { principalId: ctx.actorId, cliSessionId: 'thread-1', series: 'all' }
      const place = { runId: newId(), runStartedAt: new Date(), sequence: 1 }
      const scope = { kind: 'project', projectId: project.id, workspaceId } as const
      const statements = {
        selectRun: () => selectRun(db, ctx, runId),
        selectRuns: () => selectRuns(db, ctx, all),
        selectRunsOfTask: () => selectRuns(db, ctx, { ...all, taskId: task.id }),
        selectActiveRuns: () => selectActiveRuns(db, ctx, 20),
        selectSuspendedRuns: () => selectSuspendedRuns(db, ctx, 20),
        selectReport: () => selectReport(db, ctx, { runId, sequence: 1 }),
        selectReports: () => selectReports(db, ctx, { runId, page }),
        selectNeighbours: () => selectNeighbours(db, ctx, { series, place }),
        selectUsageByModel: () => selectUsageByModel(db, ctx, runId),
        selectCommitted: () => selectCommitted(db, ctx, { scope, parentId: null }),
      }
      // Reads are counted by connection until they are flushed.
      for (const [name, statement] of Object.entries(statements)) {
        const before = await rowsRead(db)
        await statement()
        const read = (await rowsRead(db)) - before
        assert.ok(read <= MAX_READ, `${name} read ${read} rows`)
      }
    } finally {
      db.release()
    }
  })
})
