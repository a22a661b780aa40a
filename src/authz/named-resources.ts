import type { Route, RouteInput } from '#contract/route.ts'

/** Something that a request names: `task` and an id or public id. */
export interface Named {
  type: string
  ref: string
}

/** Fields of queries and bodies that name something, and what. */
export const NAMING_FIELDS: Readonly<Record<string, string>> = {
  workspaceId: 'workspace',
  rootId: 'workspace',
  task: 'task',
  taskId: 'task',
  toTask: 'task',
  runId: 'run',
  claimId: 'claim',
  projectId: 'project',
  artifactId: 'artifact',
  supersedesArtifactId: 'artifact',
  contentRef: 'artifact_upload',
  supersedes: 'observation',
  goalId: 'goal',
  parentGoalId: 'goal',
  waitingForApprovalId: 'approval',
  approvalId: 'approval',
}

/** `parentId` is a workspace where workspaces are made and moved, nothing elsewhere. */
const WORKSPACE_PARENT = /^\/api\/v1\/workspaces/

/**
 * What a request is about: the thing in its path, told by the first folder (`/tasks/{ref}:claim` is about a
 * task), and everything that its query and body name.
 */
export function namedResources(route: Route, input: RouteInput<Route>): Named[] {
  const fields = fieldsOf(input)
  const named = Object.entries(NAMING_FIELDS).flatMap(([name, type]) => one(type, fields[name]))
  const parent = WORKSPACE_PARENT.test(route.path) ? one('workspace', fields['parentId']) : []
  const all = [...pathResource(route, input), ...parent, ...named]
  const keys = all.map(({ type, ref }) => `${type}:${ref}`)
  return all.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

/** True for a request that hands out permissions beyond one workspace: it is about the tenant too. */
export function givesRights(input: RouteInput<Route>): boolean {
  const { permissions, workspaceId } = fieldsOf(input)
  return Array.isArray(permissions) && typeof workspaceId !== 'string'
}

/** A skill is called where the call is for, not where the catalogue is: the path says what, the body where. */
const CALLED_ELSEWHERE = '/api/v1/skills/{id}:invoke'

/** The type of thing that the path of a route names, with the parameter that names it. */
export function pathType({ path }: Pick<Route, 'path'>): Named | undefined {
  const [, folder, parameter] = /^\/api\/v1\/([a-z-]+)\/\{(\w+)\}/.exec(path) ?? []
  if (folder === undefined || parameter === undefined) return undefined
  return { type: singular(folder), ref: parameter }
}

function pathResource(route: Route, input: RouteInput<Route>): Named[] {
  const named = route.path === CALLED_ELSEWHERE ? undefined : pathType(route)
  return named ? one(named.type, (input.params as Record<string, unknown>)[named.ref]) : []
}

function fieldsOf({ query, body }: RouteInput<Route>): Record<string, unknown> {
  return { ...(query as object), ...(body as object) }
}

function one(type: string, ref: unknown): Named[] {
  return typeof ref === 'string' ? [{ type, ref }] : []
}

/** `api-keys` -> `api_key`, `capabilities` -> `capability`. */
function singular(folder: string): string {
  const word = folder.replaceAll('-', '_')
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/s$/, '')
}
