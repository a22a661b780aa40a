import type { ReachedPlaces } from '#contract/visibility.ts'
import { lineInReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { selectSubtree } from '#org/workspace.sql.ts'

/**
 * Where a caller of limited reach may look in memory: of the workspace in focus and its ancestors
 * (`line`) those within reach, or everything within reach when nothing is in focus.
 */
export async function reachedPlaces(
  sql: Sql,
  ctx: Ctx,
  line: readonly string[] | null,
): Promise<ReachedPlaces | null> {
  const { reach } = ctx
  if (reach === undefined) return null
  const unplaced = reach.kind === 'listed' && reach.unplaced
  if (line !== null) return { workspaceIds: lineInReach(reach, line), unplaced }
  const everywhere = await selectSubtree(sql, ctx, undefined)
  return { workspaceIds: everywhere.map(({ id }) => id), unplaced }
}
