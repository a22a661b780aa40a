import { withinWorkspace } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { insertApiKey } from './api-key.sql.ts'
import type { ApiKeyRow } from './api-key.sql.ts'
import { newKey } from './key.ts'
import { grantable, requireFuture, requirePermission, requirePlace } from './permission.ts'
import { selectPrincipal } from './principal.sql.ts'
import { selectWorkspace } from './workspace.sql.ts'

export interface ApiKeyWish {
  principalId: string
  name: string
  permissions: readonly string[]
  /** Limits the key to this workspace and what is below it; null for the whole tenant. */
  workspaceId?: string | null
  /** Null for a key that does not expire. */
  expiresAt: Date | null
}

/**
 * Issues a key whose text is in the answer and nowhere else. The caller can give only what the caller
 * holds (see `grantable`), within what the caller reaches; an expiry in the past is refused. A key limited
 * to a workspace has there what its permissions say, and nothing that concerns the tenant as a whole.
 */
export async function createApiKey(
  sql: Sql,
  ctx: Ctx,
  input: ApiKeyWish,
): Promise<ApiKeyRow & { key: string }> {
  requirePermission(ctx, 'principals.write')
  const { principalId, name, expiresAt, workspaceId = null } = input
  await lockEntities(sql, ctx, [{ type: 'principal', id: principalId }])
  const principal = found(await selectPrincipal(sql, ctx, principalId), 'principal', principalId)
  const permissions = grantable(ctx, principal.kind, input.permissions)
  requireFuture(ctx, expiresAt)
  await checkPlaceOfRights(sql, ctx, { workspaceId, permissions })
  const { text, ...secret } = newKey()
  const apiKey = await insertApiKey(sql, ctx, {
    ...secret,
    id: newId(),
    principalId,
    name,
    permissions,
    workspaceId,
    breakGlassReason: null,
    expiresAt,
  })
  await appendEvent(sql, ctx, {
    type: 'api_key.created',
    entityType: 'api_key',
    entityId: apiKey.id,
    entityVersion: 1,
    workspaceId: null,
    payload: { principalId: principal.id, prefix: apiKey.prefix },
  })
  return { ...apiKey, key: text }
}

/**
 * Checks where a new credential is to reach: no further than the caller, and where it can do something.
 * Throws `permission_denied`, `not_found`, `invalid_permissions`.
 */
export async function checkPlaceOfRights(
  sql: Sql,
  ctx: Ctx,
  { workspaceId, permissions }: { workspaceId: string | null; permissions: readonly string[] },
): Promise<void> {
  requirePlace(ctx, workspaceId)
  if (workspaceId === null) return
  found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId)
  if (withinWorkspace(permissions).length > 0) return
  throw new AppError(
    'invalid_permissions',
    'Cannot limit the key to a workspace: its permissions concern the whole tenant',
    { details: { permissions } },
  )
}
