import { AppError } from '#lib/errors.ts'
import type { RunRow } from './run.sql.ts'

export type Budgeted = Pick<
  RunRow,
  'id' | 'maxDurationSeconds' | 'ageSeconds' | 'maxActions' | 'actionCount'
>

/**
 * Refuses more work under a run whose time is over, or whose actions are used up when the work is an
 * action. What ends a run, and what ends an action, is never asked: nothing recorded may be lost to a
 * budget. Throws `budget_exceeded` with `details.budget`.
 */
export function requireBudget(run: Budgeted, work: 'action' | 'other'): void {
  const { maxDurationSeconds, ageSeconds, maxActions, actionCount } = run
  if (maxDurationSeconds !== null && ageSeconds >= maxDurationSeconds) {
    const used = Math.floor(ageSeconds)
    throw exceeded(run, { budget: 'maxDurationSeconds', limit: maxDurationSeconds, used })
  }
  if (work === 'action' && maxActions !== null && actionCount >= maxActions) {
    throw exceeded(run, { budget: 'maxActions', limit: maxActions, used: actionCount })
  }
}

function exceeded(
  run: Budgeted,
  details: { budget: 'maxDurationSeconds' | 'maxActions'; limit: number; used: number },
): AppError {
  return new AppError(
    'budget_exceeded',
    `Cannot go on with run "${run.id}": its ${details.budget} is used up; it can only be ended`,
    { details },
  )
}
