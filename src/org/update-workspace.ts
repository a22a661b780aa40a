import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { slugConflict } from './create-workspace.ts'
import { requirePermission } from './permission.ts'
import { treeEntity } from './tree-lock.ts'
import { changedFields, requireVersion } from './version.ts'
import { selectChildRules, selectWorkspaceType } from './workspace-type.sql.ts'
import { requireParentAllowed } from './workspace-type.ts'
import { selectWorkspace, updateWorkspaceRow } from './workspace.sql.ts'
import { requireActive } from './workspace.ts'
import type { WorkspaceRow } from './workspace.ts'

export interface WorkspacePatch {
  id: string
  expectedVersion: number
  slug?: string | undefined
  name?: string | undefined
  typeKey?: string | null | undefined
}

/**
 * Changes the fields given. A new type must allow the place of the workspace, and the types of what is
 * directly below must allow it as a parent. Throws `not_found`, `version_conflict`,
 * `workspace_archived`, `workspace_slug_conflict`, `invalid_workspace_parent`; a patch that changes
 * nothing writes nothing.
 */
export async function updateWorkspace(
  sql: Sql,
  ctx: Ctx,
  patch: WorkspacePatch,
): Promise<WorkspaceRow> {
  requirePermission(ctx, 'workspaces.manage')
  const { id, expectedVersion } = patch
  const tree = patch.typeKey === undefined ? [] : [treeEntity(ctx)]
  await lockEntities(sql, ctx, [...tree, { type: 'workspace', id }])
  const before = found(await selectWorkspace(sql, ctx, id), 'workspace', id)
  requireVersion('workspace', before, expectedVersion)
  requireActive(before)
  const { slug = before.slug, name = before.name, typeKey = before.typeKey } = patch
  const changes = changedFields(before, { slug, name, typeKey })
  if (changes.length === 0) return before
  if (changes.includes('typeKey')) await checkType(sql, ctx, { ...before, typeKey })
  const after = await updateWorkspaceRow(sql, ctx, { ...before, slug, name, typeKey }).catch(
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

/** Throws unless the type may stand where the workspace stands, above what stands below it. */
async function checkType(sql: Sql, ctx: Ctx, workspace: WorkspaceRow): Promise<void> {
  const { id, parentId, typeKey } = workspace
  if (typeKey !== null) {
    const type = found(await selectWorkspaceType(sql, ctx, typeKey), 'workspace type', typeKey)
    const parent = parentId === null ? undefined : await selectWorkspace(sql, ctx, parentId)
    requireParentAllowed(type, parent ?? null)
  }
  for (const rule of await selectChildRules(sql, ctx, id)) {
    requireParentAllowed(rule, { typeKey })
  }
}
