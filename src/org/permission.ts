import { HUMAN_ONLY, PERMISSIONS, permits } from '#contract/permissions.ts'
import type { Permission } from '#contract/permissions.ts'
import type { PrincipalKind } from '#contract/org.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'

/**
 * Throws `permission_denied`, naming what is missing, unless the caller holds the permission;
 * `child_grant_exceeded` when only the child handle that came with the request withholds it.
 */
export function requirePermission(ctx: Ctx, permission: Permission): void {
  if (permits(ctx.permissions, permission)) return
  if (ctx.childGrant && permits(ctx.childGrant.credentialPermissions, permission)) {
    throw new AppError(
      'child_grant_exceeded',
      `Cannot do this under child handle "${ctx.childGrant.handleId}": it does not grant it`,
      { details: { required: permission } },
    )
  }
  throw new AppError('permission_denied', `Cannot do this without permission "${permission}"`, {
    details: { required: permission },
  })
}

/**
 * Throws `permission_denied` for something that is to belong to no workspace, when the caller reaches only
 * some. A workspace that is named is checked by looking it up: out of reach it does not exist.
 */
export function requirePlace(ctx: Ctx, workspaceId: string | null): void {
  const { reach } = ctx
  if (workspaceId !== null || reach === undefined) return
  if (reach.kind === 'listed' && reach.unplaced) return
  throw new AppError('permission_denied', 'Cannot do this outside a workspace: name one', {
    details: reach.kind === 'subtree' ? { workspaceId: reach.workspaceId } : {},
  })
}

/** The same where one of several permissions is enough; the first one is named. */
export function requireAnyPermission(
  ctx: Ctx,
  [first, ...others]: [Permission, ...Permission[]],
): void {
  if (!others.some((name) => permits(ctx.permissions, name))) requirePermission(ctx, first)
}

/** Throws `invalid_request` for an expiry that has passed; null is none. */
export function requireFuture(ctx: Ctx, expiresAt: Date | null): void {
  if (expiresAt === null || expiresAt > ctx.now()) return
  throw new AppError('invalid_request', 'Cannot do this: the expiry has passed', {
    details: { errors: [{ loc: 'body.expiresAt', message: 'must lie in the future' }] },
  })
}

/**
 * The permissions of a new credential, checked: at least one, all known (`invalid_permissions`), none
 * that only a person may hold for another kind (`permissions_not_allowed_for_kind`), and nothing the
 * granting caller lacks (`permission_escalation` with `details.missing`).
 */
export function grantable(ctx: Ctx, kind: PrincipalKind, wanted: readonly string[]): Permission[] {
  const permissions = PERMISSIONS.filter((known) => wanted.includes(known))
  const unknown = wanted.filter((name) => !PERMISSIONS.some((known) => known === name))
  if (unknown.length > 0 || permissions.length === 0) {
    const problem =
      unknown.length > 0
        ? `Cannot grant ${unknown.join(', ')}: no such permission`
        : 'Cannot grant no permission: name at least one'
    throw new AppError('invalid_permissions', problem, { details: { unknown } })
  }
  const forHumans = permissions.filter((name) => kind !== 'human' && HUMAN_ONLY.has(name))
  if (forHumans.length > 0) {
    throw new AppError(
      'permissions_not_allowed_for_kind',
      `Cannot grant ${forHumans.join(', ')}: reserved for people`,
      { details: { kind, permissions: forHumans } },
    )
  }
  requireHeld(ctx, permissions)
  return permissions
}

/** Throws `permission_escalation` with `details.missing` unless the caller holds all of these. */
export function requireHeld(ctx: Ctx, permissions: readonly Permission[]): void {
  const missing = permissions.filter((name) => !permits(ctx.permissions, name))
  if (missing.length === 0) return
  throw new AppError(
    'permission_escalation',
    `Cannot grant ${missing.join(', ')}: not held by the caller`,
    { details: { missing } },
  )
}
