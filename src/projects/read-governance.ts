import type { Governance } from '#contract/project-config.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { effectiveConfig, effectiveOfLine } from './effective-config.ts'
import type { Effective } from './effective-config.ts'
import { selectProjectLine } from './layers.sql.ts'

/** What is in force for a project. Throws `not_found` when the workspace is none. */
export async function readEffective(sql: Sql, ctx: Ctx, workspaceId: string): Promise<Effective> {
  const line = await selectProjectLine(sql, ctx, workspaceId)
  const isProject = line.at(-1)?.workspaceId === workspaceId
  return found(isProject ? effectiveOfLine(line) : undefined, 'project of workspace', workspaceId)
}

/** The project that work in a workspace belongs to, and the rules for that work. */
export interface WorkRules {
  projectId: string
  projectVersion: number
  governance: Governance
  /** What the project tells every agent; null when it says nothing. */
  agentInstructions: string | null
  /** The projects, the topmost first, that bound how many runs go on in and below their workspace. */
  runBounds: { projectId: string; workspaceId: string; maxConcurrentRuns: number }[]
}

/**
 * The rules for work in a workspace: those of the project of the workspace, or of the nearest one above
 * it. Undefined where there is no project, and for work outside every workspace.
 */
export async function readWorkRules(
  sql: Sql,
  ctx: Tenancy,
  workspaceId: string | null,
): Promise<WorkRules | undefined> {
  if (workspaceId === null) return undefined
  const line = await selectProjectLine(sql, ctx, workspaceId)
  let inForce: Effective | undefined
  const runBounds: WorkRules['runBounds'] = []
  for (const project of line) {
    inForce = effectiveConfig(inForce, project)
    const { maxConcurrentRuns } = inForce.config.governance
    // What is merely inherited is bounded where it was set.
    if (maxConcurrentRuns === null) continue
    if (maxConcurrentRuns === runBounds.at(-1)?.maxConcurrentRuns) continue
    runBounds.push({
      projectId: project.projectId,
      workspaceId: project.workspaceId,
      maxConcurrentRuns,
    })
  }
  const project = line.at(-1)
  if (!inForce || !project) return undefined
  const { projectId, version: projectVersion } = project
  const { governance, agentInstructions = null } = inForce.config
  return { projectId, projectVersion, governance, agentInstructions, runBounds }
}
