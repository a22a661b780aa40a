import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requirePermission } from '#org/permission.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { requireActive } from '#org/workspace.ts'
import { insertRole } from './role.sql.ts'
import type { RoleFields, RoleRow } from './role.sql.ts'

/**
 * Adds a role to the tenant, or to a workspace and everything below it. Throws `not_found`,
 * `workspace_archived`, `role_exists` for a slug that is taken at the same place.
 */
export async function createRole(
  sql: Sql,
  ctx: Ctx,
  input: RoleFields & { workspaceId: string | null },
): Promise<RoleRow> {
  requirePermission(ctx, 'org.manage')
  const id = newId()
  const { workspaceId } = input
  const place = workspaceId === null ? [] : [{ type: 'workspace', id: workspaceId }]
  await lockEntities(sql, ctx, [{ type: 'role', id }, ...place])
  if (workspaceId !== null) {
    requireActive(found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId))
  }
  const role = await insertRole(sql, ctx, { ...input, id }).catch((cause: unknown) => {
    throw roleConflict(cause, input.slug)
  })
  await appendEvent(sql, ctx, {
    type: 'role.created',
    entityType: 'role',
    entityId: role.id,
    entityVersion: role.version,
    workspaceId: role.workspaceId,
    payload: { slug: role.slug, name: role.name, workspaceId: role.workspaceId },
  })
  return role
}

/** The refusal behind a violated constraint, or the error as it came. */
export function roleConflict(cause: unknown, slug: string): unknown {
  if (!isPgError(cause, PG.uniqueViolation, 'role_slug_unique')) return cause
  return new AppError('role_exists', `Cannot use slug "${slug}": another role has it there`, {
    details: { slug },
    cause,
  })
}
