import { selectRole } from '#access/role.sql.ts'
import type { NewApproval } from '#contract/approvals.ts'
import type { Sql } from '#db/sql.ts'
import { badField } from '#lib/bad-field.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectAncestors } from '#org/workspace.sql.ts'
import { selectIsMaker } from './approval.sql.ts'
import type { ApprovalRow } from './approval.sql.ts'

/**
 * Who is asked, checked: an active person, or a role that somebody can hold where the approval belongs.
 * Throws `not_found`, `invalid_request`.
 */
export async function addresseeOf(
  sql: Sql,
  ctx: Ctx,
  input: Pick<NewApproval, 'requiredRoleId' | 'assignedPrincipalId'>,
  workspaceId: string | null,
): Promise<Pick<ApprovalRow, 'requiredRoleId' | 'assignedPrincipalId'>> {
  const { requiredRoleId: roleId, assignedPrincipalId: id } = input
  if (id !== undefined) await requirePerson(sql, ctx, id)
  if (roleId !== undefined) await requireRoleAt(sql, ctx, roleId, workspaceId)
  return { requiredRoleId: roleId ?? null, assignedPrincipalId: id ?? null }
}

async function requirePerson(sql: Sql, ctx: Ctx, id: string): Promise<void> {
  const { kind, status } = found(await selectPrincipal(sql, ctx, id), 'principal', id)
  if (kind !== 'human') throw badField('assignedPrincipalId', 'must be a person')
  if (status !== 'active') throw badField('assignedPrincipalId', `must be active, and is ${status}`)
}

async function requireRoleAt(
  sql: Sql,
  ctx: Ctx,
  id: string,
  workspaceId: string | null,
): Promise<void> {
  const role = found(await selectRole(sql, ctx, id), 'role', id)
  if (role.workspaceId === null) return
  const line = workspaceId === null ? [] : await selectAncestors(sql, ctx, workspaceId)
  if (line.some((workspace) => workspace.id === role.workspaceId)) return
  const place = 'the whole tenant, or of the workspace of what is approved or one above it'
  throw badField('requiredRoleId', `must be a role of ${place}`)
}

/**
 * Refuses to ask a person who may never decide: who asks, or who made what is to be approved. Throws
 * `invalid_request`.
 */
export async function requireAnother(sql: Sql, ctx: Ctx, approval: ApprovalRow): Promise<void> {
  const { id, assignedPrincipalId: principalId, requestedBy } = approval
  if (principalId === null) return
  if (principalId === requestedBy || (await selectIsMaker(sql, ctx, { id, principalId }))) {
    throw badField('assignedPrincipalId', 'must neither ask nor have made what is to be approved')
  }
}
