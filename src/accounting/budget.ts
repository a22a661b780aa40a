import { spendingBounds } from '#contract/budgets.ts'
import type { SpendingBounds } from '#contract/budgets.ts'
import { normalAmount } from '#lib/amount.ts'

export const BOUND_NAMES = Object.keys(spendingBounds) as (keyof SpendingBounds)[]

/** Every bound, those that are not set as null. */
export function wholeBounds(given: Partial<SpendingBounds>): SpendingBounds {
  return Object.fromEntries(
    BOUND_NAMES.map((name) => [name, given[name] ?? null]),
  ) as SpendingBounds
}

/** The bounds after a change, in one spelling: null lifts one, what is not named stays. */
export function changedBounds(
  before: Partial<SpendingBounds>,
  change: { [Name in keyof SpendingBounds]?: SpendingBounds[Name] | undefined },
): Partial<SpendingBounds> {
  const after: Record<string, number | string> = {}
  for (const name of BOUND_NAMES) {
    const value = change[name] === undefined ? (before[name] ?? null) : change[name]
    if (value !== null) after[name] = typeof value === 'string' ? normalAmount(value) : value
  }
  return after
}
