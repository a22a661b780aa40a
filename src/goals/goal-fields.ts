import type { GoalChanges } from '#contract/goals.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { canonicalJson } from '#lib/json.ts'
import { requirePlace } from '#org/permission.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { requireActive } from '#org/workspace.ts'
import { selectGoal } from './goal.sql.ts'
import type { GoalFields } from './goal.sql.ts'

const EMPTY: Omit<GoalFields, 'title'> = {
  description: '',
  status: 'active',
  workspaceId: null,
  ownerId: null,
  parentGoalId: null,
  criteria: [],
}

const FIELDS = ['title', ...Object.keys(EMPTY)] as (keyof GoalFields)[]

export function newGoalFields(input: GoalChanges & { title: string }): GoalFields {
  return { ...EMPTY, title: input.title, ...given(input) }
}

export function changedGoalFields(before: GoalFields, input: GoalChanges): GoalFields {
  const kept = Object.fromEntries(FIELDS.map((key) => [key, before[key]])) as unknown as GoalFields
  return { ...kept, ...given(input) }
}

/** Names of the fields that differ, as the contract spells them. */
export function differingGoalFields(before: GoalFields, after: GoalFields): string[] {
  return FIELDS.filter((key) => canonicalJson(before[key]) !== canonicalJson(after[key]))
}

function given(input: GoalChanges): Partial<GoalFields> {
  const known = FIELDS.filter((key) => input[key] !== undefined)
  return Object.fromEntries(known.map((key) => [key, input[key]]))
}

/** Checks what a goal newly refers to. Throws `not_found`, `workspace_archived`, `permission_denied`. */
export async function requireReferences(
  sql: Sql,
  ctx: Ctx,
  after: GoalFields,
  before?: GoalFields,
): Promise<void> {
  const { ownerId, workspaceId, parentGoalId } = after
  requirePlace(ctx, workspaceId)
  if (ownerId !== null && ownerId !== before?.ownerId) {
    found(await selectPrincipal(sql, ctx, ownerId), 'principal', ownerId)
  }
  if (workspaceId !== null && workspaceId !== before?.workspaceId) {
    requireActive(found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId))
  }
  if (parentGoalId !== null && parentGoalId !== before?.parentGoalId) {
    found(await selectGoal(sql, ctx, parentGoalId), 'goal', parentGoalId)
  }
}
