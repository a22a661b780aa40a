import type { GoalChanges } from '#contract/goals.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requireVersion } from '#org/version.ts'
import { changedGoalFields, differingGoalFields, requireReferences } from './goal-fields.ts'
import { selectGoal, selectIsAbove, updateGoalRow } from './goal.sql.ts'
import type { GoalRow } from './goal.sql.ts'

/**
 * Changes the fields given; a change of nothing writes nothing. A goal moves below another under one lock
 * of the tenant, so two moves never close a circle together.
 *
 * Throws `not_found`, `version_conflict`, `workspace_archived`, `dependency_cycle`.
 */
export async function updateGoal(
  sql: Sql,
  ctx: Ctx,
  input: GoalChanges & { id: string; expectedVersion: number },
): Promise<GoalRow> {
  const { id, expectedVersion, ...changes } = input
  const tree = changes.parentGoalId ? [{ type: 'goal_tree', id: ctx.tenantId }] : []
  await lockEntities(sql, ctx, [...tree, { type: 'goal', id }])
  const before = found(await selectGoal(sql, ctx, id), 'goal', id)
  requireVersion('goal', before, expectedVersion)
  const fields = changedGoalFields(before, changes)
  const changed = differingGoalFields(before, fields)
  if (changed.length === 0) return before
  await requireReferences(sql, ctx, fields, before)
  await refuseCycle(sql, ctx, id, fields.parentGoalId)
  const after = await updateGoalRow(sql, ctx, { id, ...fields })
  await appendEvent(sql, ctx, {
    type: 'goal.updated',
    entityType: 'goal',
    entityId: id,
    entityVersion: after.version,
    workspaceId: after.workspaceId,
    payload: {
      changes: changed,
      fromStatus: before.status,
      status: after.status,
      version: after.version,
    },
  })
  return after
}

async function refuseCycle(
  sql: Sql,
  ctx: Ctx,
  id: string,
  parentGoalId: string | null,
): Promise<void> {
  if (parentGoalId === null) return
  if (!(await selectIsAbove(sql, ctx, { aboveId: id, belowId: parentGoalId }))) return
  throw new AppError('dependency_cycle', `Cannot move goal "${id}": it would be below itself`, {
    details: { goalId: id, parentGoalId },
  })
}
