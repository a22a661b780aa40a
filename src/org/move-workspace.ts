import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { slugConflict } from './create-workspace.ts'
import { requirePermission, requirePlace } from './permission.ts'
import { treeEntity } from './tree-lock.ts'
import { selectWorkspaceType } from './workspace-type.sql.ts'
import { requireParentAllowed } from './workspace-type.ts'
import {
  selectAncestors,
  selectHeight,
  selectWorkspace,
  updateWorkspaceParent,
} from './workspace.sql.ts'
import { requireActive, requireDepth } from './workspace.ts'
import type { WorkspaceRow } from './workspace.ts'

/**
 * Told of a workspace that already stands in its new place, within the transaction of the move; throws
 * to undo it. What this tree means to other areas is theirs to judge.
 */
export type MoveCheck = (sql: Sql, ctx: Ctx, workspaceId: string) => Promise<void>

/**
 * Puts a workspace, with everything below it, under another parent or at the top. Whatever changes the
 * shape of a tenant's trees holds one lock, so that two moves cannot close a cycle between them and
 * `check` sees the whole new shape. Moving it where it stands changes nothing.
 *
 * Throws `permission_denied`, `not_found`, `workspace_archived`, `workspace_cycle`, `workspace_slug_conflict`,
 * `invalid_workspace_parent`, `invalid_request` when the trees would get too deep, and what `check` throws.
 */
export async function moveWorkspace(
  sql: Sql,
  ctx: Ctx,
  move: { id: string; parentId: string | null },
  check: MoveCheck,
): Promise<WorkspaceRow> {
  requirePermission(ctx, 'workspaces.manage')
  requirePlace(ctx, move.parentId)
  const ids = [move.id, ...(move.parentId === null ? [] : [move.parentId])]
  await lockEntities(sql, ctx, [treeEntity(ctx), ...ids.map((id) => ({ type: 'workspace', id }))])
  const before = found(await selectWorkspace(sql, ctx, move.id), 'workspace', move.id)
  requireActive(before)
  const line = move.parentId === null ? [] : await selectAncestors(sql, ctx, move.parentId)
  const parent = move.parentId === null ? null : found(line[0], 'workspace', move.parentId)
  if ((parent?.id ?? null) === before.parentId) return before
  if (parent) requireActive(parent)
  requireNoCycle(before.id, line)
  requireDepth('move', line.length + (await selectHeight(sql, ctx, before.id)))
  const { typeKey } = before
  const type = typeKey === null ? undefined : await selectWorkspaceType(sql, ctx, typeKey)
  requireParentAllowed(type, parent)
  const after = await updateWorkspaceParent(sql, ctx, {
    id: before.id,
    parentId: parent?.id ?? null,
  }).catch((cause: unknown) => {
    throw slugConflict(cause, before.slug)
  })
  await check(sql, ctx, after.id)
  await appendEvent(sql, ctx, {
    type: 'workspace.moved',
    entityType: 'workspace',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: after.id,
    payload: { fromParentId: before.parentId, toParentId: after.parentId },
  })
  return after
}

function requireNoCycle(id: string, line: readonly WorkspaceRow[]): void {
  if (!line.some((ancestor) => ancestor.id === id)) return
  throw new AppError(
    'workspace_cycle',
    `Cannot move workspace "${id}": its new parent is itself or below it`,
    { details: { workspaceId: id, parentId: line[0]?.id } },
  )
}
