import type { SpendingBudget } from '#contract/runs.ts'
import { AppError } from '#lib/errors.ts'
import type { RunRow } from './run.sql.ts'

export type Budgeted = Pick<
  RunRow,
  | 'id'
  | 'maxDurationSeconds'
  | 'ageSeconds'
  | 'maxActions'
  | 'actionCount'
  | 'maxTokens'
  | 'maxCost'
  | 'tokensLeft'
  | 'costLeft'
  | 'usage'
>

/**
 * Refuses more work under a run whose time is over; when the work is an action, also where actions, tokens
 * or money are used up. What ends a run, and what ends an action, is never asked: nothing recorded may be lost to a
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
  const [budget] = work === 'action' ? usedUpOf(run) : []
  if (budget === 'maxTokens') {
    throw exceeded(run, { budget, limit: run.maxTokens, used: run.usage.totalTokens })
  }
  if (budget === 'maxCost') {
    throw exceeded(run, { budget, limit: run.maxCost, used: run.usage.cost })
  }
}

/** Which of its budgets of tokens and money a run has nothing left of, by itself or by a run above it. */
export function usedUpOf(run: Pick<RunRow, 'tokensLeft' | 'costLeft'>): SpendingBudget[] {
  return [
    ...(run.tokensLeft === 0 ? (['maxTokens'] as const) : []),
    ...(run.costLeft === '0' ? (['maxCost'] as const) : []),
  ]
}

function exceeded(
  run: Budgeted,
  details: {
    budget: 'maxDurationSeconds' | 'maxActions' | SpendingBudget
    limit: number | string | null
    used: number | string | null
  },
): AppError {
  return new AppError(
    'budget_exceeded',
    `Cannot go on with run "${run.id}": its ${details.budget} is used up; it can only be ended`,
    { details },
  )
}
