import type { Hono } from 'hono'
import * as goals from '#contract/goals.ts'
import type { Goal } from '#contract/goals.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { workspacesOf } from '#org/workspaces-of.ts'
import { createGoal } from './create-goal.ts'
import { selectGoal, selectGoals } from './goal.sql.ts'
import type { GoalRow } from './goal.sql.ts'
import { updateGoal } from './update-goal.ts'

export function goalsRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, goals.createGoal, async (sql, ctx, { body }) =>
    goalReply(await createGoal(sql, ctx, body)),
  )
  bind(app, deps, goals.listGoals, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const page = pageRequest(`goals?${JSON.stringify(narrowing)}`, query)
    const { parentGoalId: parent } = query
    if (parent !== undefined) found(await selectGoal(sql, ctx, parent), 'goal', parent)
    const workspaceIds = await workspacesOf(sql, ctx, query)
    const rows = await selectGoals(sql, ctx, { ...narrowing, page, workspaceIds })
    return pageOf(page, rows, goalReply)
  })
  bind(app, deps, goals.getGoal, async (sql, ctx, { params: { id } }) =>
    goalReply(found(await selectGoal(sql, ctx, id), 'goal', id)),
  )
  bind(app, deps, goals.updateGoal, async (sql, ctx, { params, body, expectedVersion }) =>
    goalReply(await updateGoal(sql, ctx, { ...params, ...body, expectedVersion })),
  )
}

function goalReply({ createdAt, updatedAt, ...row }: GoalRow): Goal {
  return { ...row, createdAt: createdAt.toISOString(), updatedAt: updatedAt.toISOString() }
}
