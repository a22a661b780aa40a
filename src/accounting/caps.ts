import { CAPS } from '#contract/budgets.ts'
import type { CapName, CapState, SpendingBounds } from '#contract/budgets.ts'
import { fromTrillionths, toTrillionths } from '#lib/amount.ts'

export type Measure = 'tokens' | 'cost'

/** What a bound counts and over which time. */
export const CAP_KINDS: Readonly<Record<CapName, { measure: Measure; period: 'month' | 'total' }>> =
  {
    maxMonthTokens: { measure: 'tokens', period: 'month' },
    maxMonthCost: { measure: 'cost', period: 'month' },
    maxTotalTokens: { measure: 'tokens', period: 'total' },
    maxTotalCost: { measure: 'cost', period: 'total' },
  }

/** Whose runs a bound is over: those below the workspace of a project, or those of a principal. */
export type Scope =
  | { kind: 'project'; projectId: string; workspaceId: string }
  | { kind: 'principal'; principalId: string }

/** A scope with the bounds that hold over all its runs together. */
export interface BoundedScope {
  scope: Scope
  bounds: Pick<SpendingBounds, CapName>
}

/** What the runs of a scope used and may still use: whole tokens, or trillionths of the currency. */
export interface Committed {
  used: Readonly<Record<Measure, Readonly<Record<'month' | 'total', bigint>>>>
  reserved: Readonly<Record<Measure, bigint>>
  /** Whether what a new run may use is part of what a run above it holds already. */
  covers: Readonly<Record<Measure, boolean>>
}

/** One bound and where it stands. */
export interface Cap {
  name: CapName
  scope: Scope
  limit: bigint
  used: bigint
  reserved: bigint
  isCovered: boolean
}

export function capsOf({ scope, bounds }: BoundedScope, committed: Committed): Cap[] {
  return CAPS.flatMap((name) => {
    const { measure, period } = CAP_KINDS[name]
    const bound = bounds[name]
    if (bound === null) return []
    const used = committed.used[measure][period]
    const reserved = committed.reserved[measure]
    const isCovered = committed.covers[measure]
    return [{ name, scope, limit: toQuantity(bound), used, reserved, isCovered }]
  })
}

/** What a new run may use at most, or the bound that is in its way. */
export type Reservation = { reserved: bigint | null } | { refusedBy: Cap }

/**
 * What a new run reserves under bounds of one measure: what it asks for when that fits under every one,
 * and all that is left under the tightest when it asks for nothing particular; null where nothing bounds
 * it. So used and reserved together never exceed a bound. A run whose budget is part of one that a run
 * above it holds needs no room of its own there.
 */
export function reserve(asked: bigint | null, caps: readonly Cap[]): Reservation {
  const [tightest] = caps
    .filter(({ isCovered }) => !isCovered)
    .toSorted((a, b) => Number(leftOf(a) > leftOf(b)) - Number(leftOf(a) < leftOf(b)))
  if (!tightest) return { reserved: asked }
  const left = leftOf(tightest)
  if (left <= 0n || (asked !== null && asked > left)) return { refusedBy: tightest }
  return { reserved: asked ?? left }
}

/** Less than nothing where more was used than was allowed. */
export function leftOf({
  limit,
  used,
  reserved,
}: Pick<Cap, 'limit' | 'used' | 'reserved'>): bigint {
  return limit - used - reserved
}

/** Tokens as they are, money in trillionths. */
export function toQuantity(value: number | string): bigint {
  return typeof value === 'number' ? BigInt(value) : toTrillionths(value)
}

/** The same back: a number of tokens, no larger than a JSON number holds exactly, or decimal text. */
export function fromQuantity(measure: Measure, value: bigint): number | string {
  if (measure === 'cost') return fromTrillionths(value)
  return value > MAX_COUNT ? Number.MAX_SAFE_INTEGER : Number(value)
}

const MAX_COUNT = BigInt(Number.MAX_SAFE_INTEGER)

/** A bound as the contract shows it; what is left is never below 0. */
export function capState(cap: Cap): CapState {
  const { name, scope, limit, used, reserved } = cap
  const { measure } = CAP_KINDS[name]
  const show = (value: bigint) => fromQuantity(measure, value)
  const left = leftOf(cap)
  return {
    budget: name,
    scope: scope.kind,
    projectId: scope.kind === 'project' ? scope.projectId : null,
    principalId: scope.kind === 'principal' ? scope.principalId : null,
    limit: show(limit),
    used: show(used),
    reserved: show(reserved),
    left: show(left > 0n ? left : 0n),
  }
}
