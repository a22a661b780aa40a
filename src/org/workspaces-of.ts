import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectSubtree, selectWorkspace } from './workspace.sql.ts'

/** The workspaces that a listing is narrowed to; undefined when it is not. Throws `not_found`. */
export async function workspacesOf(
  sql: Sql,
  ctx: Ctx,
  query: { workspaceId?: string | undefined; includeDescendants?: boolean | undefined },
): Promise<string[] | undefined> {
  const { workspaceId, includeDescendants = false } = query
  if (workspaceId === undefined) return undefined
  const root = found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId)
  if (!includeDescendants) return [root.id]
  return (await selectSubtree(sql, ctx, root.id)).map((workspace) => workspace.id)
}
