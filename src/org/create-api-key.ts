import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { insertApiKey } from './api-key.sql.ts'
import type { ApiKeyRow } from './api-key.sql.ts'
import { newKey } from './key.ts'
import { grantable, requireFuture, requirePermission } from './permission.ts'
import { selectPrincipal } from './principal.sql.ts'

export interface ApiKeyWish {
  principalId: string
  name: string
  permissions: readonly string[]
  /** Null for a key that does not expire. */
  expiresAt: Date | null
}

/**
 * Issues a key whose text is in the answer and nowhere else. The caller can give only what the caller
 * holds (see `grantable`); an expiry in the past is refused.
 */
export async function createApiKey(
  sql: Sql,
  ctx: Ctx,
  input: ApiKeyWish,
): Promise<ApiKeyRow & { key: string }> {
  requirePermission(ctx, 'principals.write')
  const { principalId, name, expiresAt } = input
  await lockEntities(sql, ctx, [{ type: 'principal', id: principalId }])
  const principal = found(await selectPrincipal(sql, ctx, principalId), 'principal', principalId)
  const permissions = grantable(ctx, principal.kind, input.permissions)
  requireFuture(ctx, expiresAt)
  const { text, ...secret } = newKey()
  const apiKey = await insertApiKey(sql, ctx, {
    ...secret,
    id: newId(),
    principalId,
    name,
    permissions,
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
