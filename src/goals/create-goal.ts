import type { NewGoal } from '#contract/goals.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { newGoalFields, requireReferences } from './goal-fields.ts'
import { insertGoal } from './goal.sql.ts'
import type { GoalRow } from './goal.sql.ts'

/** Creates a goal. Throws `not_found`, `workspace_archived`. */
export async function createGoal(sql: Sql, ctx: Ctx, input: NewGoal): Promise<GoalRow> {
  const id = newId()
  await lockEntities(sql, ctx, [{ type: 'goal', id }])
  const fields = newGoalFields(input)
  await requireReferences(sql, ctx, fields)
  const goal = await insertGoal(sql, ctx, {
    id,
    ...fields,
    createdFrom: input.createdFrom ?? null,
  })
  const { title, status, workspaceId, ownerId, parentGoalId, criteria, createdFrom } = goal
  await appendEvent(sql, ctx, {
    type: 'goal.created',
    entityType: 'goal',
    entityId: id,
    entityVersion: goal.version,
    workspaceId,
    payload: {
      title,
      status,
      workspaceId,
      ownerId,
      parentGoalId,
      criteriaCount: criteria.length,
      createdFrom,
    },
  })
  return goal
}
