import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { selectProject, updateProjectStatus } from './project.sql.ts'
import type { ProjectRow } from './project.sql.ts'

/**
 * Closes a project to changes. Its rules go on to hold for what is below it: archiving must not be a
 * way around them. Idempotent. Throws `not_found`.
 */
export async function archiveProject(
  sql: Sql,
  ctx: Ctx,
  { id }: { id: string },
): Promise<ProjectRow> {
  requirePermission(ctx, 'projects.manage')
  await lockEntities(sql, ctx, [{ type: 'project', id }])
  const before = found(await selectProject(sql, ctx, id), 'project', id)
  if (before.status === 'archived') return before
  await updateProjectStatus(sql, ctx, { ...before, status: 'archived' })
  const after = found(await selectProject(sql, ctx, id), 'project', id)
  await appendEvent(sql, ctx, {
    type: 'project.archived',
    entityType: 'project',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: after.workspaceId,
    payload: { workspaceId: after.workspaceId },
  })
  return after
}
