import { CHILD_RUN_ORIGIN } from '#contract/child-run.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { isUngated } from './gate.sql.ts'
import { isReady } from './readiness.sql.ts'
import { isLiveClaim, joinClaim, taskColumns } from './task.sql.ts'
import type { TaskRow } from './task.sql.ts'

function inWorkspaces(sql: Sql, ids: readonly string[] | undefined) {
  return ids === undefined ? sql`` : sql`and t.workspace_id = any(${[...ids]}::uuid[])`
}

/**
 * Newest first. Uses indexes tasks_by_time, tasks_by_status, tasks_by_workspace, tasks_assigned,
 * tasks_by_goal.
 * Reads one row more than the page holds.
 */
export async function selectTasks(
  sql: Sql,
  ctx: Tenancy,
  filter: {
    page: PageRequest
    workspaceIds?: readonly string[] | undefined
    status?: string | undefined
    assigneeId?: string | undefined
    goalId?: string | undefined
  },
): Promise<TaskRow[]> {
  const { page, status, assigneeId, goalId } = filter
  return await sql<TaskRow[]>`
    select ${taskColumns(sql)}
    from (
      select t.*
      from tasks t
      where t.tenant_id = ${ctx.tenantId}
        ${status === undefined ? sql`` : sql`and t.status = ${status}`}
        ${assigneeId === undefined ? sql`` : sql`and t.assignee_id = ${assigneeId}`}
        ${goalId === undefined ? sql`` : sql`and t.goal_id = ${goalId}`}
        ${inWorkspaces(sql, filter.workspaceIds)}
        ${inReach(sql, ctx, 't.workspace_id')}
        ${olderThan(sql, page)}
      order by t.created_at desc, t.id desc
      limit ${page.limit + 1}
    ) as t
    ${joinClaim(sql)}
    order by t.created_at desc, t.id desc`
}

/**
 * Tasks free to be claimed by whoever is eligible, by priority, then oldest first; the rules are those of
 * `claimObstacles`. A page goes on after the task it ended with, wherever that stands by now. Uses index tasks_unfinished.
 */
export async function selectAvailableTasks(
  sql: Sql,
  ctx: Tenancy,
  filter: {
    page: PageRequest
    workspaceIds?: readonly string[] | undefined
    assigneeId?: string | undefined
  },
): Promise<TaskRow[]> {
  const { page, assigneeId } = filter
  return await sql<TaskRow[]>`
    select ${taskColumns(sql)}
    from tasks t
    ${joinClaim(sql)}
    where t.tenant_id = ${ctx.tenantId}
      and t.status_category in ('open', 'active')
      and not ${isLiveClaim(sql)}
      and (t.status_category = 'open' or c.id is not null)
      and t.origin ->> 'kind' is distinct from ${CHILD_RUN_ORIGIN}
      and ${isReady(sql)}
      and ${isUngated(sql)}
      ${assigneeId === undefined ? sql`` : sql`and t.assignee_id = ${assigneeId}`}
      ${inWorkspaces(sql, filter.workspaceIds)}
        ${inReach(sql, ctx, 't.workspace_id')}
      ${
        page.after === undefined
          ? sql``
          : sql`and (t.priority_rank, t.created_at, t.id) > (
        select last.priority_rank, last.created_at, last.id
        from tasks last
        where last.tenant_id = ${ctx.tenantId}
          and last.id = ${page.after.id})`
      }
    order by t.priority_rank, t.created_at, t.id
    limit ${page.limit + 1}`
}
