import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requirePermission } from './permission.ts'
import { insertWorkspace, selectAncestors } from './workspace.sql.ts'
import { MAX_WORKSPACE_DEPTH, requireActive } from './workspace.ts'
import type { WorkspaceRow } from './workspace.ts'

export interface NewWorkspace {
  slug: string
  name: string
  /** Null for a workspace at the top. */
  parentId: string | null
}

/**
 * Creates a workspace. Throws `not_found` for a parent that the tenant does not have,
 * `workspace_archived` for one that is closed, `workspace_slug_conflict` for a sibling's slug.
 */
export async function createWorkspace(
  sql: Sql,
  ctx: Ctx,
  input: NewWorkspace,
): Promise<WorkspaceRow> {
  requirePermission(ctx, 'workspaces.manage')
  const id = newId()
  const { slug, name, parentId } = input
  await lockEntities(
    sql,
    ctx,
    [id, ...(parentId === null ? [] : [parentId])].map((one) => ({ type: 'workspace', id: one })),
  )
  if (parentId !== null) await checkParent(sql, ctx, parentId)
  const workspace = await insertWorkspace(sql, ctx, { id, ...input }).catch((cause: unknown) => {
    throw slugConflict(cause, slug)
  })
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

async function checkParent(sql: Sql, ctx: Ctx, parentId: string): Promise<void> {
  const line = await selectAncestors(sql, ctx, parentId)
  requireActive(found(line[0], 'workspace', parentId))
  if (line.length < MAX_WORKSPACE_DEPTH) return
  const message = `must not be nested deeper than ${MAX_WORKSPACE_DEPTH}`
  throw new AppError('invalid_request', `Cannot create the workspace: it ${message}`, {
    details: { errors: [{ loc: 'body.parentId', message }] },
  })
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
