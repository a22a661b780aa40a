import type { ContextRequest, ProjectFocus } from '#contract/context.ts'
import { allowedScopes } from '#contract/visibility.ts'
import { anchorsOf, queryOf, scopesOf, subjectOf } from './focus.ts'
import type { Focused } from './focus.ts'

export interface Budget {
  defaultTokens: number
  limitTokens: number
}

/**
 * The question to memory, without its namespaces. Every scope in it was authorised by the core; what
 * the caller's own words add are search hints, which memory never takes for rights.
 *
 * `briefing` asks for the standing summary of the caller, so it sends no query.
 */
export function memoryRequest(request: ContextRequest, focused: Focused, budget: Budget) {
  const { strategy, asOf, maxTokens = budget.defaultTokens } = request
  return {
    query: strategy === 'briefing' ? '' : queryOf(request, focused),
    subject: subjectOf(focused),
    scopes: scopesOf(focused),
    anchors: anchorsOf(request, focused),
    ephemeral_context: ephemeral(focused),
    max_tokens: Math.min(maxTokens, budget.limitTokens),
    allowed_scopes: allowedScopes(focused.principalId, workspaceIds(focused), focused.reached),
    ...(strategy !== undefined && { strategy }),
    ...(asOf !== undefined && { as_of: asOf }),
  }
}
export type MemoryRequest = ReturnType<typeof memoryRequest>

/** The tenant's own namespace first; with a workspace in focus, that of its tree as well. */
export function namespacesOf(prefix: string, { tenantId, workspace }: Focused): string[] {
  const tenant = `${prefix}${tenantId}`
  return workspace ? [tenant, treeNamespace(prefix, tenantId, workspace.rootId)] : [tenant]
}

/** Where the knowledge of one workspace tree is kept. */
export function treeNamespace(prefix: string, tenantId: string, rootId: string): string {
  return `${prefix}${tenantId}:ws:${rootId}`
}

function workspaceIds({ workspace }: Focused): string[] | null {
  return workspace && [workspace.id, ...workspace.ancestorIds]
}

/** What memory may know of a project: which one, and where it stands; never its configuration. */
function identityOf(project: ProjectFocus) {
  const { id, workspaceId, statusKey, systemStatusCategory, templateKey } = project
  return { id, workspaceId, statusKey, systemStatusCategory, templateKey }
}

/** What is true now, for the section `current`; memory does not keep it. Configuration never leaves. */
function ephemeral({ harness, focus, project }: Focused) {
  const { activeClaims, activeRuns, suspendedRuns, pendingApprovals } = harness
  const { task, artifacts } = focus
  return {
    activeClaims,
    activeRuns,
    suspendedRuns,
    pendingApprovals,
    ...(task && { task, artifacts }),
    ...(project && { project: identityOf(project) }),
  }
}
