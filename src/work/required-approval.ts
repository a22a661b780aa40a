import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { WorkRules } from '#projects/read-governance.ts'
import { selectClosedGates, selectLastDecision } from './gate.sql.ts'
import type { ClosedGate, LastDecision } from './gate.sql.ts'

const RULES = {
  run: { rule: 'requireApprovalForRun', wish: 'start a run of' },
  completion: { rule: 'requireApprovalForCompletion', wish: 'complete' },
} as const

/**
 * Throws `approval_required` when the project of a task asks for an approval before a run of it, or before
 * its completion, and none counts. The last decision about the task counts, if it is a yes to the revision
 * that the task has now; for completion it also must have been asked for after work began, when there was
 * any: a yes to a plan is none to the result. The caller holds the task's lock.
 */
export async function requireApproved(
  sql: Sql,
  ctx: Ctx,
  taskId: string,
  { rules, before }: { rules: WorkRules | undefined; before: keyof typeof RULES },
): Promise<void> {
  const { rule, wish } = RULES[before]
  if (!rules?.governance[rule]) return
  const last = await selectLastDecision(sql, ctx, taskId)
  if (last && counts(last, before)) return
  throw new AppError(
    'approval_required',
    `Cannot ${wish} task "${taskId}": its project asks for an approval first`,
    { details: { projectId: rules.projectId, governance: rule, lastDecision: last ?? null } },
  )
}

function counts(
  { status, stale, isBeforeWork }: LastDecision,
  before: keyof typeof RULES,
): boolean {
  return status === 'approved' && !stale && (before === 'run' || !isBeforeWork)
}

const MAX_NAMED = 20

/** What holds up a task that has gates; at most 20. */
export async function closedGates(sql: Sql, ctx: Ctx, id: string): Promise<ClosedGate[]> {
  return [...(await selectClosedGates(sql, ctx, { id, limit: MAX_NAMED }))]
}

/** Throws `approval_required` while a gate keeps a task from being completed. The caller holds its lock. */
export async function requireUngated(sql: Sql, ctx: Ctx, taskId: string): Promise<void> {
  const gates = await closedGates(sql, ctx, taskId)
  if (gates.length === 0) return
  throw new AppError('approval_required', `Cannot complete task "${taskId}": a gate is closed`, {
    details: { gates },
  })
}
