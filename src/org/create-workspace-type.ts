import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requirePermission, requirePlace } from './permission.ts'
import { insertWorkspaceType, selectKnownTypeKeys } from './workspace-type.sql.ts'
import type { WorkspaceTypeRow } from './workspace-type.ts'

export type NewWorkspaceType = Omit<WorkspaceTypeRow, 'id' | 'version' | 'createdAt'>

/**
 * Adds a kind of workspace; it may name itself as a parent. Throws `workspace_type_exists` for a key in
 * use, `not_found` for a parent type that the tenant does not have.
 */
export async function createWorkspaceType(
  sql: Sql,
  ctx: Ctx,
  input: NewWorkspaceType,
): Promise<WorkspaceTypeRow> {
  requirePermission(ctx, 'workspaces.manage')
  requirePlace(ctx, null)
  const { key, displayName } = input
  await lockEntities(sql, ctx, [{ type: 'workspace_type', id: key }])
  await requireKnown(
    sql,
    ctx,
    (input.parentTypes ?? []).filter((parent) => parent !== key),
  )
  const type = await insertWorkspaceType(sql, ctx, { ...input, id: newId() })
  if (!type) {
    throw new AppError('workspace_type_exists', `Cannot create workspace type "${key}": it exists`)
  }
  await appendEvent(sql, ctx, {
    type: 'workspace_type.created',
    entityType: 'workspace_type',
    entityId: type.id,
    entityVersion: type.version,
    workspaceId: null,
    payload: { key, displayName },
  })
  return type
}

/** Throws `not_found` for the first type that the tenant does not have. */
export async function requireKnown(sql: Sql, ctx: Ctx, keys: readonly string[]): Promise<void> {
  const known = await selectKnownTypeKeys(sql, ctx, keys)
  for (const key of keys) {
    found(known.includes(key) ? key : undefined, 'workspace type', key)
  }
}
