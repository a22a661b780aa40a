import type { GivenGovernance } from '#contract/project-config.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { MoveCheck } from '#org/move-workspace.ts'
import { effectiveConfig, effectiveOfLine } from './effective-config.ts'
import type { Effective } from './effective-config.ts'
import { weakenings } from './governance.ts'
import type { Violation } from './governance.ts'
import { selectProjectLine, selectSubtreeLayers } from './layers.sql.ts'

/** What is in force above a workspace: that of the nearest project above it, undefined without one. */
export async function readAbove(
  sql: Sql,
  ctx: Ctx,
  workspaceId: string,
): Promise<Effective | undefined> {
  const line = await selectProjectLine(sql, ctx, workspaceId)
  return effectiveOfLine(line.filter((project) => project.workspaceId !== workspaceId))
}

/** Throws `governance_weakened` when a revision asks for less than what holds above its project. */
export async function requireNotWeaker(
  sql: Sql,
  ctx: Ctx,
  { workspaceId, given }: { workspaceId: string; given: GivenGovernance },
): Promise<void> {
  const above = await readAbove(sql, ctx, workspaceId)
  if (!above) return
  refuse(weakenings(above.config.governance, given))
}

/**
 * The check of a move: in the new place no revision in force, of no project that moved along, may ask
 * for less than what holds above it. Everything is judged before anything is refused, so that the
 * answer names every violation.
 */
export const checkMovedGovernance: MoveCheck = async (sql, ctx, workspaceId) => {
  const above = await readAbove(sql, ctx, workspaceId)
  const inForce = new Map<string, Effective>()
  const violations: (Violation & { projectId: string })[] = []
  for (const project of await selectSubtreeLayers(sql, ctx, workspaceId)) {
    const { projectId, parentProjectId, revision } = project
    const ancestor = parentProjectId === null ? above : inForce.get(parentProjectId)
    inForce.set(projectId, effectiveConfig(ancestor, project))
    if (!ancestor) continue
    const found = weakenings(ancestor.config.governance, revision.governance ?? {})
    violations.push(...found.map((one) => ({ projectId, ...one })))
  }
  refuse(violations)
}

function refuse(violations: readonly Violation[]): void {
  const [first] = violations
  if (!first) return
  throw new AppError(
    'governance_weakened',
    `Cannot weaken the rules of an ancestor: ${first.path} must be at least as strict`,
    { details: { violations } },
  )
}
