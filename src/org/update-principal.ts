import type { PrincipalStatus } from '#contract/org.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from './permission.ts'
import { selectPrincipal, updatePrincipalRow } from './principal.sql.ts'
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
 * its keys say. Throws `version_conflict`; a patch that changes nothing writes nothing.
 */
export async function updatePrincipal(
  sql: Sql,
  ctx: Ctx,
  patch: PrincipalPatch,
): Promise<PrincipalRow> {
  requirePermission(ctx, 'principals.write')
  const { id, expectedVersion } = patch
  await lockEntities(sql, ctx, [{ type: 'principal', id }])
  const before = found(await selectPrincipal(sql, ctx, id), 'principal', id)
  requireVersion('principal', before, expectedVersion)
  const { displayName = before.displayName, status = before.status } = patch
  const changes = changedFields(before, { displayName, status })
  if (changes.length === 0) return before
  const after = await updatePrincipalRow(sql, ctx, { id, displayName, status })
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
