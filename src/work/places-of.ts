import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { workspacesOf } from '#org/workspaces-of.ts'
import { selectProjectScope } from '#projects/layers.sql.ts'
import { selectProject } from '#projects/project.sql.ts'

/**
 * The workspaces that a listing of tasks is narrowed to: those asked for that belong to the project asked
 * for. Undefined when it is narrowed to neither. Throws `not_found`, and `permission_denied` for a project
 * when the caller may not read projects.
 */
export async function placesOf(
  sql: Sql,
  ctx: Ctx,
  query: {
    workspaceId?: string | undefined
    includeDescendants?: boolean | undefined
    projectId?: string | undefined
    includeSubprojects?: boolean | undefined
  },
): Promise<string[] | undefined> {
  const { projectId, includeSubprojects = false } = query
  const asked = await workspacesOf(sql, ctx, query)
  if (projectId === undefined) return asked
  requirePermission(ctx, 'projects.read')
  const { workspaceId } = found(await selectProject(sql, ctx, projectId), 'project', projectId)
  const scope = await selectProjectScope(sql, ctx, { workspaceId, includeSubprojects })
  return asked ? scope.filter((id) => asked.includes(id)) : scope
}
