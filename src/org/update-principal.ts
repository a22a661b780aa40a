import type { PrincipalStatus } from '#contract/org.ts'
import { PERMISSIONS } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { adminsEntity, keepAdmin } from './keep-admin.ts'
import { requireHeld, requirePermission } from './permission.ts'
import { selectPermissionsOf, selectPrincipal, updatePrincipalRow } from './principal.sql.ts'
import type { PrincipalRow } from './principal.sql.ts'
import { changedFields, requireVersion } from './version.ts'

export interface PrincipalPatch {
  id: string
  expectedVersion: number
  displayName?: string | undefined
  status?: PrincipalStatus | undefined
}

/**
 * Changes the fields given. A principal that is not active is refused at its next request, whatever
 * its keys say, and what it is writing meanwhile does not commit. It is let in again only by who could
 * give what its credentials hold. Throws `version_conflict`, `last_admin_required` and
 * `permission_escalation`; a patch that changes nothing writes nothing.
 */
export async function updatePrincipal(
  sql: Sql,
  ctx: Ctx,
  patch: PrincipalPatch,
): Promise<PrincipalRow> {
  requirePermission(ctx, 'principals.write')
  const { id, expectedVersion } = patch
  const mayEnd = patch.status !== undefined && patch.status !== 'active'
  const admins = mayEnd ? [adminsEntity(ctx)] : []
  await lockEntities(sql, ctx, [...admins, { type: 'principal', id }])
  const before = found(await selectPrincipal(sql, ctx, id), 'principal', id)
  requireVersion('principal', before, expectedVersion)
  const { displayName = before.displayName, status = before.status } = patch
  const changes = changedFields(before, { displayName, status })
  if (changes.length === 0) return before
  if (before.status !== 'active' && status === 'active') {
    const woken = await selectPermissionsOf(sql, ctx, { id })
    requireHeld(
      ctx,
      PERMISSIONS.filter((name) => woken.includes(name)),
    )
  }
  const update = () => updatePrincipalRow(sql, ctx, { id, displayName, status })
  const after = mayEnd ? await keepAdmin(sql, ctx, update) : await update()
  await appendEvent(sql, ctx, {
    type: 'principal.updated',
    entityType: 'principal',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: null,
    payload: { changes, version: after.version },
  })
  return after
}
