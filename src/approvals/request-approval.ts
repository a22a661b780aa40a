import type { NewApproval } from '#contract/approvals.ts'
import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import { badField } from '#lib/bad-field.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { requireLiveClaim } from '#work/live-claim.ts'
import { addresseeOf, requireAnother } from './addressee.ts'
import { insertApproval, selectApproval } from './approval.sql.ts'
import type { ApprovalRow } from './approval.sql.ts'
import { lockSubject } from './subject.ts'
import type { Subject } from './subject.ts'

/**
 * Asks a person, or whoever holds a role, to approve the revision that a task or an artifact has now. A
 * gate keeps the task from being claimed and completed from this moment on. A claim that is shown must be
 * live.
 *
 * Throws `not_found`, `invalid_request`, `version_conflict`, `task_already_completed` for a gate,
 * `stale_claim`, `claim_holder_mismatch`, `secret_refused`.
 */
export async function requestApproval(
  sql: Sql,
  ctx: Ctx,
  input: NewApproval,
): Promise<ApprovalRow> {
  const { gate, comment = null } = input
  refuseSecretsIn({ comment })
  const id = newId()
  const subject = await lockSubject(sql, ctx, { ...input, id })
  if (gate) requireUncompleted(subject)
  const claim = await claimShown(sql, ctx, input, subject)
  const { task, taskRevision, artifact, workspaceId } = subject
  await insertApproval(sql, ctx, {
    id,
    taskId: task?.id ?? null,
    taskRevision,
    artifactId: artifact?.id ?? null,
    workspaceId,
    ...(await addresseeOf(sql, ctx, input, workspaceId)),
    gate,
    comment,
    claim,
  })
  const approval = found(await selectApproval(sql, ctx, id), 'approval', id)
  await requireAnother(sql, ctx, approval)
  await appendEvent(sql, ctx, { ...requested(approval), sessionId: claim?.sessionId ?? null })
  return approval
}

function requested(approval: ApprovalRow): NewEvent {
  const { id, version, workspaceId, taskId, taskRevision, artifactId, gate, comment } = approval
  const { requiredRoleId, assignedPrincipalId } = approval
  const addressee = { requiredRoleId, assignedPrincipalId }
  return {
    type: 'approval.requested',
    entityType: 'approval',
    entityId: id,
    entityVersion: version,
    workspaceId,
    payload: { taskId, taskRevision, artifactId, ...addressee, gate, comment },
  }
}

function requireUncompleted({ task }: Subject): void {
  if (task?.statusCategory !== 'terminal_success') return
  throw new AppError('task_already_completed', `Cannot gate task "${task.id}": it is completed`)
}

async function claimShown(
  sql: Sql,
  ctx: Ctx,
  { claimId, fencingToken }: NewApproval,
  { task }: Subject,
): Promise<ClaimRow | undefined> {
  if (claimId === undefined || fencingToken === undefined) return undefined
  if (!task) throw badField('claimId', 'must be the claim of a task')
  return await requireLiveClaim(sql, ctx, { taskId: task.id, claimId, fencingToken })
}
