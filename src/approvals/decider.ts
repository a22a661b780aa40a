import { hasRole } from '#access/is-eligible.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { requireAnyPermission, requirePermission } from '#org/permission.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectIsMaker } from './approval.sql.ts'
import type { ApprovalRow } from './approval.sql.ts'

/** Why somebody who has the permission may not decide this approval. */
export type Bar = 'not_a_person' | 'not_addressed' | 'requested_it' | 'made_it'

/** True when the approval is addressed to the caller: by name, or by a role held where it belongs. */
export async function isAddressed(sql: Sql, ctx: Ctx, approval: ApprovalRow): Promise<boolean> {
  const { assignedPrincipalId, requiredRoleId: roleId, workspaceId } = approval
  if (roleId === null) return assignedPrincipalId === ctx.actorId
  return await hasRole(sql, ctx, { principalId: ctx.actorId, workspaceId, roleId })
}

/** True for a person: nobody else ever decides, whatever it was permitted. */
export async function isPerson(sql: Sql, ctx: Ctx): Promise<boolean> {
  const principal = await selectPrincipal(sql, ctx, ctx.actorId)
  return principal?.kind === 'human'
}

async function barOf(sql: Sql, ctx: Ctx, approval: ApprovalRow): Promise<Bar | undefined> {
  const { id, requestedBy } = approval
  const { actorId: principalId } = ctx
  if (!(await isPerson(sql, ctx))) return 'not_a_person'
  if (!(await isAddressed(sql, ctx, approval))) return 'not_addressed'
  if (requestedBy === principalId) return 'requested_it'
  return (await selectIsMaker(sql, ctx, { id, principalId })) ? 'made_it' : undefined
}

/** Throws `permission_denied`, with `details.reason` for who may decide others but not this one. */
export async function requireDecider(sql: Sql, ctx: Ctx, approval: ApprovalRow): Promise<void> {
  requirePermission(ctx, 'approvals.decide')
  const reason = await barOf(sql, ctx, approval)
  if (reason) throw denied('decide', approval, { required: 'approvals.decide', reason })
}

/**
 * Who asked may withdraw what it asked, and who may decide may do so too. What is no gate binds nobody:
 * any manager of approvals may withdraw it. An administrator may lift the gate of a person who cannot
 * decide any more, since nobody else could. Throws `permission_denied`.
 */
export async function requireCanceller(sql: Sql, ctx: Ctx, approval: ApprovalRow): Promise<void> {
  requireAnyPermission(ctx, ['approvals.manage', 'approvals.decide'])
  const isOwn = approval.requestedBy === ctx.actorId || !approval.gate
  if (isOwn && permits(ctx.permissions, 'approvals.manage')) return
  const decides = permits(ctx.permissions, 'approvals.decide')
  const reason = decides ? await barOf(sql, ctx, approval) : 'not_addressed'
  if (!reason || (await isOrphaned(sql, ctx, approval))) return
  throw denied('cancel', approval, { required: 'approvals.decide', reason })
}

/** True for an administrator when the one person asked is not active, or is a maker by now. */
async function isOrphaned(
  sql: Sql,
  ctx: Ctx,
  { id, assignedPrincipalId: principalId }: ApprovalRow,
): Promise<boolean> {
  if (principalId === null || !ctx.permissions.has('admin')) return false
  const addressee = await selectPrincipal(sql, ctx, principalId)
  return addressee?.status !== 'active' || (await selectIsMaker(sql, ctx, { id, principalId }))
}

function denied(wish: string, { id }: ApprovalRow, details: Record<string, unknown>): AppError {
  const message = `Cannot ${wish} approval "${id}": it is not for you to do so`
  return new AppError('permission_denied', message, { details })
}
