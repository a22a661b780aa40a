import { CAPS } from '#contract/budgets.ts'
import type { CapName, SpendingBounds } from '#contract/budgets.ts'
import type { Governance } from '#contract/project-config.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { effectiveConfig, effectiveOfLine } from './effective-config.ts'
import type { Effective } from './effective-config.ts'
import { selectProjectLine } from './layers.sql.ts'
import type { PlacedLayers } from './layers.sql.ts'

/** What is in force for a project. Throws `not_found` when the workspace is none. */
export async function readEffective(sql: Sql, ctx: Ctx, workspaceId: string): Promise<Effective> {
  const line = await selectProjectLine(sql, ctx, workspaceId)
  const isProject = line.at(-1)?.workspaceId === workspaceId
  return found(isProject ? effectiveOfLine(line) : undefined, 'project of workspace', workspaceId)
}

/** The project that work in a workspace belongs to, and the rules for that work. */
export interface WorkRules {
  projectId: string
  /** Of the project. */
  workspaceId: string
  governance: Governance
  /** What every agent is told, by which project, and which version of its layer; null when nothing. */
  instructions: { projectId: string; version: number; text: string } | null
  /** The projects, the topmost first, that bound how many runs go on in and below their workspace. */
  runBounds: { projectId: string; workspaceId: string; maxConcurrentRuns: number }[]
  /** The same for what runs use together; a bound that a project merely inherits is null. */
  spendingBounds: ProjectBounds[]
}

export interface ProjectBounds {
  projectId: string
  workspaceId: string
  bounds: Pick<SpendingBounds, CapName>
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
  return rulesOfLine(await selectProjectLine(sql, ctx, workspaceId))
}

function rulesOfLine(line: readonly PlacedLayers[]): WorkRules | undefined {
  let inForce: Effective | undefined
  let instructions: WorkRules['instructions'] = null
  const runBounds: WorkRules['runBounds'] = []
  const spendingBounds: ProjectBounds[] = []
  for (const project of line) {
    const { projectId, workspaceId } = project
    const above = inForce?.config.governance
    inForce = effectiveConfig(inForce, project)
    instructions = instructionsOf(inForce, project) ?? instructions
    const { maxConcurrentRuns } = inForce.config.governance
    // What is merely inherited is bounded where it was set.
    const isBound = maxConcurrentRuns !== (runBounds.at(-1)?.maxConcurrentRuns ?? null)
    if (maxConcurrentRuns !== null && isBound) {
      runBounds.push({ projectId, workspaceId, maxConcurrentRuns })
    }
    const bounds = ownCaps(above, inForce.config.governance)
    if (CAPS.some((name) => bounds[name] !== null)) {
      spendingBounds.push({ projectId, workspaceId, bounds })
    }
  }
  const own = line.at(-1)
  if (!inForce || !own) return undefined
  const { projectId, workspaceId } = own
  const { governance } = inForce.config
  return { projectId, workspaceId, governance, instructions, runBounds, spendingBounds }
}

/** What a project bounds itself: what holds above it is bounded there, over more runs. */
function ownCaps(above: Governance | undefined, inForce: Governance): ProjectBounds['bounds'] {
  const own = CAPS.map((name) => [name, inForce[name] === above?.[name] ? null : inForce[name]])
  return Object.fromEntries(own) as ProjectBounds['bounds']
}

/** What a project itself tells, with the version of the layer that tells it. */
function instructionsOf(
  { config, provenance }: Effective,
  { projectId, templateVersion, activeRevision, version }: PlacedLayers,
): WorkRules['instructions'] {
  const { agentInstructions: text } = config
  const layer = provenance['agentInstructions']
  if (text === undefined || layer === undefined || layer === 'ancestor') return null
  const versions = { template: templateVersion, revision: activeRevision, profile: version }
  return { projectId, version: versions[layer] ?? version, text }
}
