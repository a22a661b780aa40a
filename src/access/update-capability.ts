import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { changedFields, requireVersion } from '#org/version.ts'
import { selectCapability, updateCapabilityRow } from './capability.sql.ts'
import type { CapabilityRow } from './capability.sql.ts'

/** Changes the description. Throws `version_conflict`; the same description again writes nothing. */
export async function updateCapability(
  sql: Sql,
  ctx: Ctx,
  patch: { id: string; expectedVersion: number; description: string },
): Promise<CapabilityRow> {
  requirePermission(ctx, 'org.manage')
  const { id, expectedVersion, description } = patch
  await lockEntities(sql, ctx, [{ type: 'capability', id }])
  const before = found(await selectCapability(sql, ctx, id), 'capability', id)
  requireVersion('capability', before, expectedVersion)
  const changes = changedFields(before, { description })
  if (changes.length === 0) return before
  const after = await updateCapabilityRow(sql, ctx, { id, description })
  await appendEvent(sql, ctx, {
    type: 'capability.updated',
    entityType: 'capability',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: null,
    payload: { changes, version: after.version },
  })
  return after
}
