import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import type { ApprovalStatus } from '#contract/approvals.ts'

/**
 * True when what an approval is about has a newer revision than the one it names. `approval` and `task`
 * are what the query calls the two; a missing task counts as unchanged. Uses index
 * one_successor_per_artifact.
 */
export function isStale(sql: Sql, approval: string, task: string) {
  const a = (column: string) => sql(`${approval}.${column}`)
  return sql`(
    coalesce(${a('task_revision')} <> ${sql(`${task}.revision`)}, false)
    or exists (
      select
      from artifacts newer
      where newer.tenant_id = ${a('tenant_id')}
        and newer.supersedes_artifact_id = ${a('artifact_id')}))`
}

/**
 * The gates that keep tasks `t` from being claimed and completed: those that wait for an answer, and
 * those whose answer was about an older revision. Of the latter only the last one counts among all that
 * ask the same of the same. Uses indexes approval_gates, approvals_by_task.
 */
function fromClosedGates(sql: Sql) {
  const stale = isStale(sql, 'g', 't')
  return sql`
    from approvals g
    where g.tenant_id = t.tenant_id
      and g.task_id = t.id
      and g.gate
      and g.status in ('pending', 'approved')
      and (g.status = 'pending' or ${stale})
      and not (${stale} and exists (
        select
        from approvals later
        where later.tenant_id = g.tenant_id
          and later.task_id = g.task_id
          and (later.created_at, later.id) > (g.created_at, g.id)
          and later.gate
          and later.status <> 'cancelled'
          and later.required_role_id is not distinct from g.required_role_id
          and later.assigned_principal_id is not distinct from g.assigned_principal_id
          and (g.artifact_root_id is null or later.artifact_root_id = g.artifact_root_id)))`
}

/** True of tasks `t` that no gate holds up. */
export function isUngated(sql: Sql) {
  return sql`not exists (select ${fromClosedGates(sql)})`
}

/** A gate that holds up a task. */
export interface ClosedGate {
  /** Null for a gate out of the reader's reach, which holds up all the same. */
  approvalId: string | null
  status: ApprovalStatus
  stale: boolean
}

/** What holds up a task, the oldest first. */
export async function selectClosedGates(
  sql: Sql,
  ctx: Tenancy,
  task: { id: string; limit: number },
): Promise<ClosedGate[]> {
  return await sql<ClosedGate[]>`
    select closed.approval_id, closed.status, closed.stale
    from tasks t
    cross join lateral (
      select case when true ${inReach(sql, ctx, 'g.workspace_id')} then g.id end as approval_id,
             g.status, ${isStale(sql, 'g', 't')} as stale, g.created_at, g.id
      ${fromClosedGates(sql)}
    ) as closed
    where t.tenant_id = ${ctx.tenantId}
      and t.id = ${task.id}
    order by closed.created_at, closed.id
    limit ${task.limit}`
}

/** The last word on a task as a whole. */
export interface LastDecision {
  /** Null when it is out of the reader's reach; it is the last word all the same. */
  approvalId: string | null
  status: 'approved' | 'rejected'
  stale: boolean
  /** True when no run was started before it was asked for, and one has been since. */
  isBeforeWork: boolean
}

/** What was decided last of all about the task itself. Uses index approvals_by_task, runs_by_task. */
export async function selectLastDecision(
  sql: Sql,
  ctx: Tenancy,
  taskId: string,
): Promise<LastDecision | undefined> {
  const [row] = await sql<LastDecision[]>`
    select case when true ${inReach(sql, ctx, 'a.workspace_id')} then a.id end as approval_id,
           a.status, ${isStale(sql, 'a', 't')} as stale,
           a.after_attempt = 0 and exists (
             select
             from runs r
             where r.tenant_id = a.tenant_id
               and r.task_id = a.task_id) as is_before_work
    from approvals a
    join tasks t on t.tenant_id = a.tenant_id and t.id = a.task_id
    where a.tenant_id = ${ctx.tenantId}
      and a.task_id = ${taskId}
      and a.task_revision is not null
      and a.status in ('approved', 'rejected')
    order by a.decided_at desc, a.id desc
    limit 1`
  return row
}

/** What somebody may wait for. */
export async function selectAwaited(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<{ taskId: string | null; status: ApprovalStatus } | undefined> {
  const [row] = await sql<{ taskId: string | null; status: ApprovalStatus }[]>`
    select task_id, status
    from approvals
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      ${inReach(sql, ctx, 'approvals.workspace_id')}`
  return row
}
