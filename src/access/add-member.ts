import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { requireActive } from '#org/workspace.ts'
import { insertMember, selectMember } from './member.sql.ts'
import type { MemberRow } from './member.sql.ts'

/** Adds a principal to a workspace; `isNew` is false when it is a member already. */
export async function addMember(
  sql: Sql,
  ctx: Ctx,
  member: { workspaceId: string; principalId: string },
): Promise<{ member: MemberRow; isNew: boolean }> {
  requirePermission(ctx, 'workspaces.manage')
  const { workspaceId, principalId } = member
  await lockEntities(sql, ctx, [{ type: 'workspace', id: workspaceId }])
  const workspace = found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId)
  requireActive(workspace)
  found(await selectPrincipal(sql, ctx, principalId), 'principal', principalId)
  const isNew = await insertMember(sql, ctx, member)
  if (isNew) {
    await appendEvent(sql, ctx, {
      type: 'workspace.member_added',
      entityType: 'workspace',
      entityId: workspaceId,
      entityVersion: workspace.version,
      workspaceId,
      payload: { principalId },
    })
  }
  const row = found(await selectMember(sql, ctx, member), 'member', principalId)
  return { member: row, isNew }
}
