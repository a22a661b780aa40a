import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface CheckpointRow {
  id: string
  runId: string
  sequence: number
  kind: string
  data: Record<string, unknown>
  createdAt: Date
}

/** Adds the next checkpoint of a running run; both rows or neither. */
export async function insertCheckpoint(
  sql: Sql,
  ctx: Tenancy,
  checkpoint: Pick<CheckpointRow, 'id' | 'runId' | 'kind' | 'data'> & { fencingToken: number },
): Promise<(CheckpointRow & { runVersion: number }) | undefined> {
  const { id, runId, kind, data, fencingToken } = checkpoint
  const [row] = await sql<(CheckpointRow & { runVersion: number })[]>`
    with run as (
      update runs
      set checkpoint_count = checkpoint_count + 1, version = version + 1
      where tenant_id = ${ctx.tenantId}
        and id = ${runId}
        and status = 'running'
      returning checkpoint_count, version),
    added as (
      insert into run_checkpoints (tenant_id, run_id, sequence, id, kind, data, fencing_token)
      select ${ctx.tenantId}, ${runId}, run.checkpoint_count, ${id}, ${kind},
             ${sql.json(data as never)}, ${fencingToken}
      from run
      returning id, run_id, sequence, kind, data, created_at)
    select added.*, run.version as run_version
    from added, run`
  return row
}

/** Oldest first; all of them without a page. Reads one row more than a page holds. */
export async function selectCheckpoints(
  sql: Sql,
  ctx: Tenancy,
  filter: { runId: string; page: PageRequest | undefined },
): Promise<CheckpointRow[]> {
  const { runId, page } = filter
  return await sql<CheckpointRow[]>`
    select id, run_id, sequence, kind, data, created_at
    from run_checkpoints
    where tenant_id = ${ctx.tenantId}
      and run_id = ${runId}
      ${
        page?.after === undefined
          ? sql``
          : sql`and sequence > (
        select last.sequence
        from run_checkpoints last
        where last.tenant_id = ${ctx.tenantId}
          and last.run_id = ${runId}
          and last.id = ${page.after.id})`
      }
    order by sequence
    ${page === undefined ? sql`` : sql`limit ${page.limit + 1}`}`
}

/** The newest checkpoints of every run of a task, oldest first, each with its run's attempt. */
export async function selectCheckpointsOfTask(
  sql: Sql,
  ctx: Tenancy,
  task: { taskId: string; limit: number },
): Promise<(CheckpointRow & { attempt: number })[]> {
  const rows = await sql<(CheckpointRow & { attempt: number })[]>`
    select c.id, c.run_id, r.attempt, c.sequence, c.kind, c.data, c.created_at
    from runs r
    join run_checkpoints c on c.tenant_id = r.tenant_id and c.run_id = r.id
    where r.tenant_id = ${ctx.tenantId}
      and r.task_id = ${task.taskId}
    order by r.attempt desc, c.sequence desc
    limit ${task.limit}`
  return rows.toReversed()
}
