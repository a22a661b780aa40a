import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { selectApproval, updateApprovalDecided } from './approval.sql.ts'
import type { ApprovalRow } from './approval.sql.ts'
import { requireCanceller, requireDecider } from './decider.ts'
import { approvalEntities } from './subject.ts'

export interface Decision {
  id: string
  comment?: string | undefined
}

/**
 * Says yes to the revision that was asked about. Of any number of decisions exactly one is made: the
 * approval is locked, and the trigger approvals_decided_once would refuse a second one even without that.
 *
 * Throws `not_found`, `permission_denied`, `approval_already_decided`, `secret_refused`, and
 * `version_conflict` when there is a newer revision, which nobody asked about.
 */
export async function approve(sql: Sql, ctx: Ctx, decision: Decision): Promise<ApprovalRow> {
  const approval = await lockApproval(sql, ctx, decision)
  await requireDecider(sql, ctx, approval)
  requirePending(approval)
  if (approval.stale) throw revised(approval)
  return await decide(sql, ctx, { ...decision, approval, status: 'approved' })
}

/** Says no; also to a revision that is not the newest any more. Throws what {@link approve} throws. */
export async function reject(sql: Sql, ctx: Ctx, decision: Decision): Promise<ApprovalRow> {
  const approval = await lockApproval(sql, ctx, decision)
  await requireDecider(sql, ctx, approval)
  requirePending(approval)
  return await decide(sql, ctx, { ...decision, approval, status: 'rejected' })
}

/**
 * Withdraws what is pending, and a gate that is closed although it was approved: in a revision that is not
 * the newest any more. Throws what {@link reject} throws.
 */
export async function cancelApproval(sql: Sql, ctx: Ctx, decision: Decision): Promise<ApprovalRow> {
  const approval = await lockApproval(sql, ctx, decision)
  await requireCanceller(sql, ctx, approval)
  const { gate, status, stale } = approval
  if (!(gate && status === 'approved' && stale)) requirePending(approval)
  return await decide(sql, ctx, { ...decision, approval, status: 'cancelled' })
}

/** Locks an approval and the revisions it is about, then reads it as it is under the locks. */
async function lockApproval(sql: Sql, ctx: Ctx, { id, comment }: Decision): Promise<ApprovalRow> {
  refuseSecretsIn({ comment })
  const before = found(await selectApproval(sql, ctx, id), 'approval', id)
  await lockEntities(sql, ctx, approvalEntities(before))
  return found(await selectApproval(sql, ctx, id), 'approval', id)
}

async function decide(
  sql: Sql,
  ctx: Ctx,
  input: Decision & {
    approval: ApprovalRow
    status: 'approved' | 'rejected' | 'cancelled'
  },
): Promise<ApprovalRow> {
  const { id, approval, status, comment = null } = input
  const version = await updateApprovalDecided(sql, ctx, {
    id,
    from: approval.status,
    status,
    comment,
  })
  if (version === undefined) throw alreadyDecided(approval)
  const { taskId, artifactId, gate, workspaceId } = approval
  const about: Pick<NewEvent, 'entityType' | 'entityId' | 'entityVersion' | 'workspaceId'> = {
    entityType: 'approval',
    entityId: id,
    entityVersion: version,
    workspaceId,
  }
  await appendEvent(
    sql,
    ctx,
    status === 'cancelled'
      ? { ...about, type: 'approval.cancelled', payload: { taskId, artifactId, gate } }
      : { ...about, type: `approval.${status}`, payload: { taskId, artifactId, comment } },
  )
  return found(await selectApproval(sql, ctx, id), 'approval', id)
}

function requirePending(approval: ApprovalRow): void {
  if (approval.status !== 'pending') throw alreadyDecided(approval)
}

function alreadyDecided({ id, status, decidedBy }: ApprovalRow): AppError {
  return new AppError(
    'approval_already_decided',
    `Cannot decide approval "${id}": it is ${status}`,
    {
      details: { decision: status, decidedBy },
    },
  )
}

function revised({ id, taskId, artifactId }: ApprovalRow): AppError {
  return new AppError(
    'version_conflict',
    `Cannot approve "${id}": what it is about was revised since; ask again`,
    { details: { taskId, artifactId } },
  )
}
