import type { StatusCategory } from '#contract/task-types.ts'

/**
 * Why a task cannot be claimed, or undefined. A task that people work on without a claim (`active`, no
 * claim) is theirs; one whose claim ended unrecorded is free.
 */
export function claimObstacle(
  task: { statusCategory: StatusCategory },
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

/** The version that the next change of a locked task gives it, for an event that is sent with the change. */
export function nextVersion({ version }: { version: number }): number {
  return version + 1
}
