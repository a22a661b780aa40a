import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { adminsEntity, keepAdmin } from '#org/keep-admin.ts'
import { grantable, requirePermission } from '#org/permission.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { requireVersion } from '#org/version.ts'
import { selectBinding, updateBindingRow } from './binding.sql.ts'
import type { BindingRow, BindingStatus } from './binding.sql.ts'

export interface BindingPatch {
  id: string
  expectedVersion: number
  permissions?: readonly string[] | undefined
  status?: BindingStatus | undefined
}

/**
 * Changes what a bound identity may do, or ends it. What is revoked stays so. Throws `not_found`,
 * `version_conflict`, `invalid_transition`, `last_admin_required` and what `grantable` throws; a patch that
 * changes nothing writes nothing.
 */
export async function updateBinding(sql: Sql, ctx: Ctx, patch: BindingPatch): Promise<BindingRow> {
  requirePermission(ctx, 'principals.write')
  const { id, expectedVersion } = patch
  await lockEntities(sql, ctx, [adminsEntity(ctx), { type: 'iam_binding', id }])
  const before = found(await selectBinding(sql, ctx, id), 'binding', id)
  requireVersion('binding', before, expectedVersion)
  const { status = before.status } = patch
  if (before.status === 'revoked' && status !== 'revoked') throw revoked(id)
  const permissions = await permissionsOf(sql, ctx, before, patch)
  const changes = [
    ...(permissions.join() === before.permissions.join() ? [] : ['permissions']),
    ...(status === before.status ? [] : ['status']),
  ]
  if (changes.length === 0) return before
  const after = await keepAdmin(sql, ctx, () =>
    updateBindingRow(sql, ctx, { id, permissions, status }),
  )
  await appendEvent(sql, ctx, {
    type: 'iam_binding.updated',
    entityType: 'iam_binding',
    entityId: id,
    entityVersion: after.version,
    workspaceId: null,
    payload: { principalId: after.principalId, changes, status, version: after.version },
  })
  return after
}

async function permissionsOf(
  sql: Sql,
  ctx: Ctx,
  before: BindingRow,
  patch: BindingPatch,
): Promise<string[]> {
  // What is let in again is given anew: nobody wakes rights that they could not give.
  const isWoken = before.status === 'disabled' && patch.status === 'active'
  const permissions = patch.permissions ?? (isWoken ? before.permissions : undefined)
  if (permissions === undefined) return before.permissions
  const { principalId } = before
  const principal = found(await selectPrincipal(sql, ctx, principalId), 'principal', principalId)
  return grantable(ctx, principal.kind, permissions)
}

function revoked(id: string): AppError {
  return new AppError('invalid_transition', `Cannot change binding "${id}": it is revoked`)
}
