import { selectArtifact } from '#artifacts/artifact.sql.ts'
import type { Referenced } from '#contract/external-references.ts'
import type { Permission } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { selectTask } from '#work/task.sql.ts'

/** Something here that can have a name elsewhere. */
export interface Entity {
  type: Referenced
  id: string
  /** The workspace that its events are stamped with. */
  workspaceId: string | null
}

/** What the caller needs to see a thing of this kind. */
export const READ: Readonly<Record<Referenced, Permission>> = {
  task: 'tasks.read',
  workspace: 'workspaces.read',
  artifact: 'artifacts.read',
}

/** A thing by its id, a task also by its public id. Throws `not_found`. */
export async function readEntity(
  sql: Sql,
  ctx: Ctx,
  type: Referenced,
  ref: string,
): Promise<Entity> {
  return found(await selectEntity(sql, ctx, type, ref), type, ref)
}

/** The same; undefined for what the caller cannot see. */
export async function selectEntity(
  sql: Sql,
  ctx: Ctx,
  type: Referenced,
  ref: string,
): Promise<Entity | undefined> {
  if (type === 'workspace') {
    const workspace = await selectWorkspace(sql, ctx, ref)
    return workspace && { type, id: workspace.id, workspaceId: workspace.id }
  }
  const row =
    type === 'task' ? await selectTask(sql, ctx, ref) : await selectArtifact(sql, ctx, ref)
  return row && { type, id: row.id, workspaceId: row.workspaceId }
}
