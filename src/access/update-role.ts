import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { changedFields, requireVersion } from '#org/version.ts'
import { roleConflict } from './create-role.ts'
import { selectRole, updateRoleRow } from './role.sql.ts'
import type { RoleRow } from './role.sql.ts'

export interface RolePatch {
  id: string
  expectedVersion: number
  slug?: string | undefined
  name?: string | undefined
  description?: string | undefined
}

/** Changes the fields given. Throws `version_conflict`, `role_exists`; a patch without change writes nothing. */
export async function updateRole(sql: Sql, ctx: Ctx, patch: RolePatch): Promise<RoleRow> {
  requirePermission(ctx, 'org.manage')
  const { id, expectedVersion } = patch
  await lockEntities(sql, ctx, [{ type: 'role', id }])
  const before = found(await selectRole(sql, ctx, id), 'role', id)
  requireVersion('role', before, expectedVersion)
  const { slug = before.slug, name = before.name, description = before.description } = patch
  const changes = changedFields(before, { slug, name, description })
  if (changes.length === 0) return before
  const after = await updateRoleRow(sql, ctx, { id, slug, name, description }).catch(
    (cause: unknown) => {
      throw roleConflict(cause, slug)
    },
  )
  await appendEvent(sql, ctx, {
    type: 'role.updated',
    entityType: 'role',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: after.workspaceId,
    payload: { changes, version: after.version },
  })
  return after
}
