import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectApiKey, updateKeyRevoked } from './api-key.sql.ts'
import { adminsEntity, keepAdmin } from './keep-admin.ts'
import type { ApiKeyRow } from './api-key.sql.ts'
import { requirePermission } from './permission.ts'

/**
 * Ends a key for every request that is authenticated after the commit, and for what is being written with
 * it meanwhile. Throws `last_admin_required`. Idempotent.
 */
export async function revokeApiKey(sql: Sql, ctx: Ctx, { id }: { id: string }): Promise<ApiKeyRow> {
  requirePermission(ctx, 'principals.write')
  await lockEntities(sql, ctx, [adminsEntity(ctx), { type: 'api_key', id }])
  const before = found(await selectApiKey(sql, ctx, id), 'api key', id)
  if (before.revokedAt !== null) return before
  const revoked = await keepAdmin(sql, ctx, () => updateKeyRevoked(sql, ctx, id))
  const { principalId, prefix } = revoked
  await appendEvent(sql, ctx, {
    type: 'api_key.revoked',
    entityType: 'api_key',
    entityId: revoked.id,
    entityVersion: 2,
    workspaceId: null,
    payload: { principalId, prefix },
  })
  return revoked
}
