import type { Route, RouteInput } from '#contract/route.ts'

/** Something that a request names: `task` and an id or public id. */
export interface Named {
  type: string
  ref: string
}

/** Fields of queries and bodies that name something, and what. */
const FIELDS: Readonly<Record<string, string>> = {
  workspaceId: 'workspace',
  rootId: 'workspace',
  task: 'task',
  taskId: 'task',
  toTaskId: 'task',
  runId: 'run',
  claimId: 'claim',
  projectId: 'project',
  artifactId: 'artifact',
  supersedesArtifactId: 'artifact',
  supersedes: 'observation',
  goalId: 'goal',
  parentGoalId: 'goal',
  waitingForApprovalId: 'approval',
}

/** `parentId` is a workspace where workspaces are made and moved, nothing elsewhere. */
const WORKSPACE_PARENT = /^\/api\/v1\/workspaces/

/**
 * What a request is about: the thing in its path, told by the first folder (`/tasks/{ref}:claim` is about a
 * task), and everything that its query and body name.
 */
export function namedResources(route: Route, input: RouteInput<Route>): Named[] {
  const fields = { ...(input.query as object), ...(input.body as object) } as Record<
    string,
    unknown
  >
  const named = Object.entries(FIELDS).flatMap(([name, type]) => named1(type, fields[name]))
  const parent = WORKSPACE_PARENT.test(route.path) ? named1('workspace', fields['parentId']) : []
  const all = [...pathResource(route, input), ...parent, ...named]
  const keys = all.map(({ type, ref }) => `${type}:${ref}`)
  return all.filter((_, index) => keys.indexOf(keys[index] ?? '') === index)
}

function named1(type: string, ref: unknown): Named[] {
  return typeof ref === 'string' ? [{ type, ref }] : []
}

function pathResource(route: Route, input: RouteInput<Route>): Named[] {
  const match = /^\/api\/v1\/([a-z-]+)\/\{(\w+)\}/.exec(route.path)
  const [, folder = '', parameter = ''] = match ?? []
  const value = (input.params as Record<string, unknown>)[parameter]
  return folder === '' ? [] : named1(singular(folder), value)
}

/** `api-keys` -> `api_key`, `capabilities` -> `capability`. */
function singular(folder: string): string {
  const word = folder.replaceAll('-', '_')
  return word.endsWith('ies') ? `${word.slice(0, -3)}y` : word.replace(/s$/, '')
}
