import type { GoalStatus } from '#contract/goals.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface GoalRow {
  id: string
  title: string
  description: string
  status: GoalStatus
  workspaceId: string | null
  ownerId: string | null
  parentGoalId: string | null
  criteria: unknown[]
  createdFrom: string | null
  version: number
  createdBy: string
  createdAt: Date
  updatedAt: Date
}

/** What a caller may change. */
export type GoalFields = Pick<
  GoalRow,
  'title' | 'description' | 'status' | 'workspaceId' | 'ownerId' | 'parentGoalId' | 'criteria'
>

function columns(sql: Sql) {
  return sql`id, title, description, status, workspace_id, owner_id, parent_goal_id, criteria,
    created_from, version, created_by, created_at, updated_at`
}

export async function insertGoal(
  sql: Sql,
  ctx: Ctx,
  goal: GoalFields & Pick<GoalRow, 'id' | 'createdFrom'>,
): Promise<GoalRow> {
  const [row] = await sql<[GoalRow]>`
    insert into goals
      (tenant_id, id, title, description, status, workspace_id, owner_id, parent_goal_id, criteria,
       created_from, created_by)
    values
      (${ctx.tenantId}, ${goal.id}, ${goal.title}, ${goal.description}, ${goal.status},
       ${goal.workspaceId}, ${goal.ownerId}, ${goal.parentGoalId},
       ${sql.json(goal.criteria as never)}, ${goal.createdFrom}, ${ctx.actorId})
    returning ${columns(sql)}`
  return row
}

export async function selectGoal(sql: Sql, ctx: Tenancy, id: string): Promise<GoalRow | undefined> {
  const [row] = await sql<GoalRow[]>`
    select ${columns(sql)}
    from goals
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      ${inReach(sql, ctx, 'goals.workspace_id')}`
  return row
}

/**
 * Newest first. Uses indexes goals_by_time, goals_by_workspace, goals_by_parent. Reads one row more than
 * the page holds.
 */
export async function selectGoals(
  sql: Sql,
  ctx: Tenancy,
  filter: {
    page: PageRequest
    workspaceIds?: readonly string[] | undefined
    status?: GoalStatus | undefined
    ownerId?: string | undefined
    parentGoalId?: string | undefined
  },
): Promise<GoalRow[]> {
  const { page, workspaceIds, status, ownerId, parentGoalId } = filter
  return await sql<GoalRow[]>`
    select ${columns(sql)}
    from goals
    where tenant_id = ${ctx.tenantId}
      ${workspaceIds === undefined ? sql`` : sql`and workspace_id = any(${[...workspaceIds]}::uuid[])`}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${ownerId === undefined ? sql`` : sql`and owner_id = ${ownerId}`}
      ${parentGoalId === undefined ? sql`` : sql`and parent_goal_id = ${parentGoalId}`}
      ${inReach(sql, ctx, 'goals.workspace_id')}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/** Whether a goal is the other or somewhere above it. One look-up by primary key per level. */
export async function selectIsAbove(
  sql: Sql,
  ctx: Tenancy,
  goals: { aboveId: string; belowId: string },
): Promise<boolean> {
  const rows = await sql`
    with recursive line as (
      select id, parent_goal_id
      from goals
      where tenant_id = ${ctx.tenantId}
        and id = ${goals.belowId}
      union
      select g.id, g.parent_goal_id
      from line
      join goals g on g.tenant_id = ${ctx.tenantId} and g.id = line.parent_goal_id
    )
    select 1
    from line
    where id = ${goals.aboveId}`
  return rows.length > 0
}

export async function updateGoalRow(
  sql: Sql,
  ctx: Tenancy,
  goal: GoalFields & Pick<GoalRow, 'id'>,
): Promise<GoalRow> {
  const [row] = await sql<[GoalRow]>`
    update goals
    set title = ${goal.title},
        description = ${goal.description},
        status = ${goal.status},
        workspace_id = ${goal.workspaceId},
        owner_id = ${goal.ownerId},
        parent_goal_id = ${goal.parentGoalId},
        criteria = ${sql.json(goal.criteria as never)},
        version = version + 1,
        updated_at = clock_timestamp()
    where tenant_id = ${ctx.tenantId}
      and id = ${goal.id}
    returning ${columns(sql)}`
  return row
}
