import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requirePermission } from './permission.ts'
import { selectHasActiveChild, selectWorkspace, updateWorkspaceRow } from './workspace.sql.ts'
import type { WorkspaceRow } from './workspace.ts'

/**
 * Closes a workspace; its children must be closed first (`workspace_has_active_children`). A child
 * created at the same moment holds the lock of its parent, so one of the two is refused. Idempotent.
 */
export async function archiveWorkspace(
  sql: Sql,
  ctx: Ctx,
  { id }: { id: string },
): Promise<WorkspaceRow> {
  requirePermission(ctx, 'workspaces.manage')
  await lockEntities(sql, ctx, [{ type: 'workspace', id }])
  const before = found(await selectWorkspace(sql, ctx, id), 'workspace', id)
  if (before.status === 'archived') return before
  if (await selectHasActiveChild(sql, ctx, id)) {
    throw new AppError(
      'workspace_has_active_children',
      `Cannot archive workspace "${id}": it has active children`,
    )
  }
  const after = await updateWorkspaceRow(sql, ctx, { ...before, status: 'archived' })
  await appendEvent(sql, ctx, {
    type: 'workspace.archived',
    entityType: 'workspace',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: after.id,
    payload: { slug: after.slug },
  })
  return after
}
