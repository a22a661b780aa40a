import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requirePermission, requirePlace } from './permission.ts'
import { treeEntity } from './tree-lock.ts'
import { selectWorkspaceType } from './workspace-type.sql.ts'
import { requireParentAllowed } from './workspace-type.ts'
import { insertWorkspace, selectAncestors } from './workspace.sql.ts'
import { requireActive, requireDepth } from './workspace.ts'
import type { WorkspaceRow } from './workspace.ts'

export interface NewWorkspace {
  slug: string
  name: string
  /** Null for a workspace at the top. */
  parentId: string | null
  typeKey?: string | null | undefined
}

/**
 * Creates a workspace. Throws `not_found` for a parent or a type that the tenant does not have,
 * `workspace_archived` for a parent that is closed, `workspace_slug_conflict` for a sibling's slug,
 * `invalid_workspace_parent` for a place that the type does not allow.
 */
export async function createWorkspace(
  sql: Sql,
  ctx: Ctx,
  input: NewWorkspace,
): Promise<WorkspaceRow> {
  requirePermission(ctx, 'workspaces.manage')
  const id = newId()
  const { slug, name, parentId, typeKey = null } = input
  requirePlace(ctx, parentId)
  const ids = [id, ...(parentId === null ? [] : [parentId])]
  await lockEntities(sql, ctx, [
    treeEntity(ctx),
    ...ids.map((one) => ({ type: 'workspace', id: one })),
  ])
  const parent = parentId === null ? null : await readParent(sql, ctx, parentId)
  if (typeKey !== null) {
    const type = await selectWorkspaceType(sql, ctx, typeKey)
    requireParentAllowed(found(type, 'workspace type', typeKey), parent)
  }
  const workspace = await insertWorkspace(sql, ctx, { id, ...input, typeKey }).catch(
    (cause: unknown) => {
      throw slugConflict(cause, slug)
    },
  )
  await appendEvent(sql, ctx, {
    type: 'workspace.created',
    entityType: 'workspace',
    entityId: id,
    entityVersion: workspace.version,
    workspaceId: id,
    payload: { slug, name, parentId: workspace.parentId },
  })
  return workspace
}

async function readParent(sql: Sql, ctx: Ctx, parentId: string): Promise<WorkspaceRow> {
  const line = await selectAncestors(sql, ctx, parentId)
  const parent = found(line[0], 'workspace', parentId)
  requireActive(parent)
  requireDepth('create', line.length + 1)
  return parent
}

/** The refusal behind a violated constraint, or the error as it came. */
export function slugConflict(cause: unknown, slug: string): unknown {
  if (!isPgError(cause, PG.uniqueViolation, 'workspace_slug_unique')) return cause
  return new AppError(
    'workspace_slug_conflict',
    `Cannot use slug "${slug}": a sibling workspace has it`,
    { details: { slug }, cause },
  )
}
