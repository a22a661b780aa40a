import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectAncestors } from '#org/workspace.sql.ts'
import type { WorkspaceRow } from '#org/workspace.ts'
import { readWorkRules } from '#projects/read-governance.ts'

/** A workspace, and from where above it a reader in it may be told what memory holds. */
export interface MemoryLine {
  workspace: WorkspaceRow
  /** The ancestors that share with it, nearest first. */
  ancestorIds: string[]
  /** The top of its tree, whether or not it shares: knowledge is kept by tree. */
  rootId: string
}

/**
 * What a workspace has in memory beside its own: that of all its ancestors, unless the rules of its
 * project (`memoryScopeSharing`) say only of those within the project, or of none. Throws `not_found`.
 */
export async function memoryLine(sql: Sql, ctx: Ctx, workspaceId: string): Promise<MemoryLine> {
  const line = await selectAncestors(sql, ctx, workspaceId)
  const workspace = found(line[0], 'workspace', workspaceId)
  const ids = line.map(({ id }) => id)
  const rules = await readWorkRules(sql, ctx, workspace.id)
  const shared = {
    ancestors: ids.length,
    project: ids.indexOf(rules?.workspaceId ?? workspace.id) + 1,
    none: 1,
  }
  const depth = shared[rules?.governance.memoryScopeSharing ?? 'ancestors']
  return { workspace, ancestorIds: ids.slice(1, depth), rootId: ids.at(-1) ?? workspace.id }
}
