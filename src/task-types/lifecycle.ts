import type { Lifecycle, StatusCategory } from '#contract/task-types.ts'
import { AppError } from '#lib/errors.ts'

/** A task as far as its lifecycle moves it. */
export interface Moving {
  id: string
  status: string
  lifecycle: Lifecycle
}

/** Throws for a status that the lifecycle does not have: callers pass what the database holds. */
export function categoryOf(lifecycle: Lifecycle, status: string): StatusCategory {
  const known = lifecycle.statuses.find(({ key }) => key === status)
  if (!known) throw new Error(`the lifecycle has no status ${status}`)
  return known.category
}

/** What moves a task: a change by a caller, or completing it. */
export type Mover = 'update' | 'complete'

/** Where a task can go from its status, and by what. The way into success is only by completing. */
export function transitionsFrom(
  lifecycle: Lifecycle,
  status: string,
): { status: string; systemStatusCategory: StatusCategory; by: Mover }[] {
  return lifecycle.transitions
    .filter(({ from }) => from === status)
    .map(({ to }) => {
      const category = categoryOf(lifecycle, to)
      const by = category === 'terminal_success' ? 'complete' : 'update'
      return { status: to, systemStatusCategory: category, by }
    })
}

/** Throws `invalid_transition` unless the lifecycle leads from the task's status to `status` this way. */
export function requireTransition(task: Moving, status: string, by: Mover): void {
  const allowed = transitionsFrom(task.lifecycle, task.status)
    .filter((transition) => transition.by === by)
    .map((transition) => transition.status)
  if (allowed.includes(status)) return
  throw new AppError(
    'invalid_transition',
    `Cannot move task "${task.id}" from ${task.status} to ${status}`,
    { details: { from: task.status, to: status, allowed } },
  )
}

export interface LifecycleProblem {
  path: (string | number)[]
  message: string
}

/**
 * What keeps a lifecycle from working: names that are not there, moves that nobody could make, a task
 * that could never be claimed again or never be completed. Success is final: other tasks may have begun
 * because of it.
 */
export function lifecycleProblems(lifecycle: Lifecycle): LifecycleProblem[] {
  const { statuses, transitions } = lifecycle
  const categories = new Map(statuses.map(({ key, category }) => [key, category]))
  const repeated = statuses.flatMap(({ key }, index) =>
    statuses.findIndex((status) => status.key === key) === index
      ? []
      : [{ path: ['statuses', index, 'key'], message: 'is there twice' }],
  )
  const moves = transitions.flatMap((_, index) => {
    const message = transitionProblem(lifecycle, categories, index)
    return message === undefined ? [] : [{ path: ['transitions', index], message }]
  })
  const isCompletable = transitions.some(({ to }) => to === lifecycle.completionStatus)
  return [
    ...repeated,
    ...placeProblems(lifecycle, categories),
    ...moves,
    ...(isCompletable
      ? []
      : [{ path: ['transitions'], message: 'must lead to the completionStatus' }]),
  ]
}

type Categories = ReadonlyMap<string, StatusCategory>

const PLACES = {
  initialStatus: ['open', 'active', 'blocked'],
  claimStatus: ['active'],
  releaseStatus: ['open', 'blocked'],
  completionStatus: ['terminal_success'],
} as const satisfies Partial<Record<keyof Lifecycle, readonly StatusCategory[]>>

function placeProblems(lifecycle: Lifecycle, categories: Categories): LifecycleProblem[] {
  return (Object.keys(PLACES) as (keyof typeof PLACES)[]).flatMap((place) => {
    const status = lifecycle[place]
    if (status === null) return []
    const allowed: readonly StatusCategory[] = PLACES[place]
    const category = categories.get(status)
    if (category !== undefined && allowed.includes(category)) return []
    const message = `must be a status of category ${allowed.join(' or ')}`
    return [{ path: [place], message }]
  })
}

function transitionProblem(
  { transitions, completionStatus }: Lifecycle,
  categories: Categories,
  index: number,
): string | undefined {
  const transition = transitions[index]
  if (!transition) return undefined
  const { from, to } = transition
  const isSame = (other: typeof transition) => other.from === from && other.to === to
  if (!categories.has(from) || !categories.has(to)) return 'must join two statuses of the lifecycle'
  if (from === to) return 'must lead to another status'
  if (transitions.findIndex(isSame) < index) return 'is there twice'
  if (categories.get(from) === 'terminal_success') return 'must not lead out of success'
  if (categories.get(to) === 'terminal_success' && to !== completionStatus) {
    return 'must lead into success by the completionStatus'
  }
  return undefined
}
