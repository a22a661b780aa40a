import type { ContextRequest, Focus, HarnessContext, ProjectFocus } from '#contract/context.ts'
import type { ReachedPlaces } from '#contract/visibility.ts'

/** The workspace in focus with the ancestors that share their memory with it, nearest first. */
export interface WorkspaceFocus {
  id: string
  ancestorIds: readonly string[]
  /** The top of its tree. */
  rootId: string
}

/** Everything about a request that was read and authorised before memory is asked. */
export interface Focused {
  tenantId: string
  principalId: string
  harness: HarnessContext
  runId: string | null
  focus: Focus
  project: ProjectFocus | null
  workspace: WorkspaceFocus | null
  /** Null when the caller reaches the whole tenant. */
  reached: ReachedPlaces | null
}

const MAX_SCOPES = 10
const MAX_ANCHORS = 10
const MAX_QUERY = 2000

/** What the request is about; the narrowest thing in focus. */
export function subjectOf({ project, focus, principalId }: Focused): { type: string; id: string } {
  if (project) return { type: 'project', id: project.id }
  if (focus.task) return { type: 'task', id: focus.task.id }
  return { type: 'principal', id: principalId }
}

/** What memory may relate to the request, the nearest first; every one was authorised before. */
export function scopesOf(focused: Focused): string[] {
  const ancestors = focused.workspace?.ancestorIds.map((id) => `workspace:${id}`) ?? []
  return [...namesOf(focused), ...ancestors].slice(0, MAX_SCOPES)
}

/** Where search starts: what the caller asked for first, then what is in focus. */
export function anchorsOf(request: ContextRequest, focused: Focused): string[] {
  return [...new Set([...request.anchors, ...namesOf(focused)])].slice(0, MAX_ANCHORS)
}

/** What to look for: the caller's words, else the task in focus, else what is going on. */
export function queryOf(request: ContextRequest, { focus: { task } }: Focused): string {
  if (request.query.trim() !== '') return request.query
  if (!task) return 'current work context'
  return cut([task.title, task.description].filter(Boolean).join('\n\n'), MAX_QUERY)
}

function namesOf({ principalId, runId, focus, project, workspace }: Focused): string[] {
  return [
    `principal:${principalId}`,
    ...(runId === null ? [] : [`run:${runId}`]),
    ...(focus.task ? [`task:${focus.task.id}`] : []),
    ...(project ? [`project:${project.id}`] : []),
    ...(workspace ? [`workspace:${workspace.id}`] : []),
  ]
}

/** At most `max` UTF-16 units, never half a character. */
function cut(text: string, max: number): string {
  return text
    .slice(0, max)
    .toWellFormed()
    .replace(/\uFFFD$/, '')
}
