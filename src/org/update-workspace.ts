import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { slugConflict } from './create-workspace.ts'
import { requirePermission } from './permission.ts'
import { changedFields, requireVersion } from './version.ts'
import { selectWorkspace, updateWorkspaceRow } from './workspace.sql.ts'
import { requireActive } from './workspace.ts'
import type { WorkspaceRow } from './workspace.ts'

export interface WorkspacePatch {
  id: string
  expectedVersion: number
  slug?: string | undefined
  name?: string | undefined
}

/**
 * Changes the fields given. Throws `version_conflict`, `workspace_archived` or
 * `workspace_slug_conflict`; a patch that changes nothing writes nothing.
 */
export async function updateWorkspace(
  sql: Sql,
  ctx: Ctx,
  patch: WorkspacePatch,
): Promise<WorkspaceRow> {
  requirePermission(ctx, 'workspaces.manage')
  const { id, expectedVersion } = patch
  await lockEntities(sql, ctx, [{ type: 'workspace', id }])
  const before = found(await selectWorkspace(sql, ctx, id), 'workspace', id)
  requireVersion('workspace', before, expectedVersion)
  requireActive(before)
  const { slug = before.slug, name = before.name } = patch
  const changes = changedFields(before, { slug, name })
  if (changes.length === 0) return before
  const after = await updateWorkspaceRow(sql, ctx, { ...before, slug, name }).catch(
    (cause: unknown) => {
      throw slugConflict(cause, slug)
    },
  )
  await appendEvent(sql, ctx, {
    type: 'workspace.updated',
    entityType: 'workspace',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: after.id,
    payload: { changes, version: after.version },
  })
  return after
}
