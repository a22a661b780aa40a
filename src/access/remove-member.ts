import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { deleteMember } from './member.sql.ts'

/** Removes a member; false for who is none. Throws `not_found`. */
export async function removeMember(
  sql: Sql,
  ctx: Ctx,
  member: { workspaceId: string; principalId: string },
): Promise<boolean> {
  requirePermission(ctx, 'workspaces.manage')
  const { workspaceId, principalId } = member
  await lockEntities(sql, ctx, [{ type: 'workspace', id: workspaceId }])
  const workspace = found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId)
  found(await selectPrincipal(sql, ctx, principalId), 'principal', principalId)
  const removed = await deleteMember(sql, ctx, member)
  if (!removed) return false
  await appendEvent(sql, ctx, {
    type: 'workspace.member_removed',
    entityType: 'workspace',
    entityId: workspaceId,
    entityVersion: workspace.version,
    workspaceId,
    payload: { principalId },
  })
  return true
}
