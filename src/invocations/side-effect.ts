import { selectApproval } from '#approvals/approval.sql.ts'
import type { ApprovalRow } from '#approvals/approval.sql.ts'
import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { selectExecutionSkill } from './execution.sql.ts'
import type { InvocationRow } from './invocation.sql.ts'
import type { ToolDetail } from '#skills/read-tools.ts'

type Basis = Pick<InvocationRow, 'basis' | 'approvalId'>

/**
 * What lets a call write outside: a gate of the run's task that was approved, which the call uses up, or the
 * type of the task, which names the skill that carries it out. A skill that does not write needs neither; an
 * approval that is shown is used up all the same.
 *
 * Throws `not_found`, `approval_required`, `skill_side_effect_not_authorized`.
 */
export async function basisOf(
  sql: Sql,
  ctx: Ctx,
  call: { skill: ToolDetail; run: RunRow | undefined; approvalId: string | undefined },
): Promise<Basis> {
  const { skill, run, approvalId } = call
  if (approvalId !== undefined) {
    const approval = found(await selectApproval(sql, ctx, approvalId), 'approval', approvalId)
    requireUsable(skill, approval, run?.taskId)
    return { basis: 'approval', approvalId: approval.id }
  }
  if (skill.sideEffects !== 'external_write') return { basis: null, approvalId: null }
  const execution = run && (await selectExecutionSkill(sql, ctx, run.taskId))
  if (execution === skill.name) return { basis: 'execution', approvalId: null }
  throw approvalRequired(skill, {})
}

function requireUsable(skill: ToolDetail, approval: ApprovalRow, taskId: string | undefined): void {
  const { id: approvalId, status, gate, stale } = approval
  if (status === 'pending') throw approvalRequired(skill, { approvalId })
  if (status !== 'approved') throw notAuthorized(skill, approvalId, status)
  if (approval.taskId !== taskId) throw notAuthorized(skill, approvalId, 'other_task')
  if (!gate) throw notAuthorized(skill, approvalId, 'no_gate')
  if (stale) throw notAuthorized(skill, approvalId, 'stale')
}

/** Throws `skill_side_effect_not_authorized` when a call could not be kept because its approval is used. */
export function refuseUsedApproval(
  skill: ToolDetail,
  { approvalId }: Basis,
  cause: unknown,
): never {
  if (approvalId === null) throw cause
  if (!isPgError(cause, PG.uniqueViolation, 'one_use_of_an_approval')) throw cause
  throw notAuthorized(skill, approvalId, 'used')
}

function approvalRequired({ id, name, sideEffects }: ToolDetail, more: object): AppError {
  return new AppError(
    'approval_required',
    `Cannot call skill "${name}": it writes outside, which asks for an approval first`,
    { details: { skillId: id, sideEffects, ...more } },
  )
}

function notAuthorized({ id, name }: ToolDetail, approvalId: string, reason: string): AppError {
  return new AppError(
    'skill_side_effect_not_authorized',
    `Cannot call skill "${name}" by approval "${approvalId}": it does not cover the call`,
    { details: { skillId: id, approvalId, reason } },
  )
}
