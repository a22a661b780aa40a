import { CHILD_RUN_ORIGIN } from '#contract/child-run.ts'
import type { Origin } from '#contract/tasks.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'

/** The handle that a task was made for; only requests that show it write under the task's claim. */
export function handleOf(task: { origin: Origin | null }): string | null {
  return task.origin?.kind === CHILD_RUN_ORIGIN ? task.origin.ref : null
}

/**
 * The task of a child run is claimed under its handle, and under a handle nothing else is. Throws
 * `task_not_claimable` with `details.reason`, or `child_grant_exceeded`.
 */
export function requireOwnChild(ctx: Ctx, task: { id: string; origin: Origin | null }): void {
  const handleId = handleOf(task)
  if (handleId === (ctx.childGrant?.handleId ?? null)) return
  if (ctx.childGrant) {
    throw new AppError(
      'child_grant_exceeded',
      `Cannot claim task "${task.id}" under child handle "${ctx.childGrant.handleId}"`,
      { details: { taskId: ctx.childGrant.taskId } },
    )
  }
  throw new AppError('task_not_claimable', `Cannot claim task "${task.id}": it is a child run's`, {
    details: { reason: 'child_handle_required' },
  })
}

/** What is written under the claim of a child comes with its handle, whose grant then holds. */
export function requireHandleShown(ctx: Ctx, claim: { id: string; handleId: string | null }): void {
  if (claim.handleId === null || claim.handleId === ctx.childGrant?.handleId) return
  throw new AppError(
    'child_grant_exceeded',
    `Cannot write under claim "${claim.id}" without its child handle`,
    { details: { handleId: claim.handleId } },
  )
}
