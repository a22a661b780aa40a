import type { StatusCategory } from '#contract/tasks.ts'
import { AppError } from '#lib/errors.ts'

/** How the tasks of one type move. A version of a type never changes, so tasks keep theirs. */
export interface Lifecycle {
  typeKey: string
  typeVersion: number
  initialStatus: string
  /** Where a claim brings the task, where its end brings it back, where completion ends. */
  claimStatus: string
  releaseStatus: string
  completionStatus: string
  statuses: Readonly<Record<string, { category: StatusCategory; next: readonly string[] }>>
}

const TASK_LIFECYCLE: Lifecycle = {
  typeKey: 'task',
  typeVersion: 1,
  initialStatus: 'open',
  claimStatus: 'in_progress',
  releaseStatus: 'open',
  completionStatus: 'completed',
  statuses: {
    open: { category: 'open', next: ['in_progress', 'blocked', 'cancelled', 'completed'] },
    in_progress: { category: 'active', next: ['open', 'blocked', 'cancelled', 'completed'] },
    blocked: { category: 'blocked', next: ['open', 'in_progress', 'cancelled'] },
    completed: { category: 'terminal_success', next: [] },
    cancelled: { category: 'terminal_cancelled', next: ['open'] },
  },
}

/** The lifecycle of a type; so far there is one type, which is built in. */
export function lifecycleOf(type: { typeKey: string; typeVersion: number }): Lifecycle {
  if (type.typeKey === TASK_LIFECYCLE.typeKey && type.typeVersion === TASK_LIFECYCLE.typeVersion) {
    return TASK_LIFECYCLE
  }
  throw new Error(`unknown task type ${type.typeKey} version ${type.typeVersion}`)
}

export const DEFAULT_LIFECYCLE = TASK_LIFECYCLE

/** Throws for a status that the lifecycle does not have: callers pass what the database holds. */
export function categoryOf(lifecycle: Lifecycle, status: string): StatusCategory {
  const known = Object.hasOwn(lifecycle.statuses, status) ? lifecycle.statuses[status] : undefined
  if (!known) throw new Error(`type ${lifecycle.typeKey} has no status ${status}`)
  return known.category
}

export interface TaskState {
  id: string
  status: string
  statusCategory: StatusCategory
  typeKey: string
  typeVersion: number
}

/**
 * Throws `invalid_transition` unless the lifecycle leads from the task's status to `status`. The way
 * into success is only by completing: `by` tells which of the two is being tried.
 */
export function requireTransition(
  task: TaskState,
  status: string,
  by: 'change' | 'completion',
): void {
  const lifecycle = lifecycleOf(task)
  const next = lifecycle.statuses[task.status]?.next ?? []
  const allowed = next.filter(
    (key) => (categoryOf(lifecycle, key) === 'terminal_success') === (by === 'completion'),
  )
  if (allowed.includes(status)) return
  throw new AppError(
    'invalid_transition',
    `Cannot move task "${task.id}" from ${task.status} to ${status}`,
    { details: { from: task.status, to: status, allowed } },
  )
}

/**
 * Why a task cannot be claimed, or undefined. A task that people work on without a claim (`active`, no
 * claim) is theirs; one whose claim ended unrecorded is free.
 */
export function claimObstacle(
  task: Pick<TaskState, 'statusCategory'>,
  claim: { isLive: boolean } | undefined,
): 'task_already_claimed' | 'task_not_claimable' | undefined {
  if (claim?.isLive) return 'task_already_claimed'
  if (task.statusCategory === 'open') return undefined
  return task.statusCategory === 'active' && claim ? undefined : 'task_not_claimable'
}

/** `TASK-000123` for 123. */
export function publicIdOf(number: string): string {
  return `TASK-${number.padStart(6, '0')}`
}
