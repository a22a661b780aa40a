import type { WorkspaceStatus } from '#contract/workspaces.ts'
import { AppError } from '#lib/errors.ts'

export interface WorkspaceRow {
  id: string
  parentId: string | null
  slug: string
  name: string
  status: WorkspaceStatus
  /** Null for a workspace of no particular kind. */
  typeKey: string | null
  version: number
  createdAt: Date
}

/** Deepest nesting; a root has depth 1. Bounds every walk over ancestors and every nested answer. */
export const MAX_WORKSPACE_DEPTH = 50

/** Throws `invalid_request` at `parentId` when a place is deeper than that. */
export function requireDepth(verb: string, depth: number): void {
  if (depth <= MAX_WORKSPACE_DEPTH) return
  const message = `must not be nested deeper than ${MAX_WORKSPACE_DEPTH}`
  throw new AppError('invalid_request', `Cannot ${verb} the workspace: it ${message}`, {
    details: { errors: [{ loc: 'body.parentId', message }] },
  })
}

/** A workspace with what is directly below it. */
export type Tree<W> = W & { children: Tree<W>[] }

/** Throws `workspace_archived` unless work may still be added to the workspace. */
export function requireActive(workspace: WorkspaceRow): void {
  if (workspace.status === 'active') return
  throw new AppError(
    'workspace_archived',
    `Cannot change workspace "${workspace.id}": it is archived`,
    { details: { workspaceId: workspace.id } },
  )
}

/**
 * Rows as trees, siblings by slug. A row whose parent is not among the rows is a root of its own, so a
 * subtree can be given as well as everything. Linear in the number of rows but for the sorting.
 */
export function treesOf<W extends { id: string; parentId: string | null; slug: string }>(
  rows: readonly W[],
): Tree<W>[] {
  const bySlug = rows.toSorted((a, b) => (a.slug < b.slug ? -1 : 1))
  const nodes = new Map<string, Tree<W>>(bySlug.map((row) => [row.id, { ...row, children: [] }]))
  const roots: Tree<W>[] = []
  for (const node of nodes.values()) {
    const parent = node.parentId === null ? undefined : nodes.get(node.parentId)
    ;(parent?.children ?? roots).push(node)
  }
  return roots
}
