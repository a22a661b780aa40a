import { AUTONOMY_LEVELS, GOVERNANCE_FIELDS, MEMORY_SHARING } from '#contract/project-config.ts'
import type { GivenGovernance, Governance } from '#contract/project-config.ts'
import { PRIORITIES } from '#contract/tasks.ts'
import { normalAmount, smallerAmount } from '#lib/amount.ts'

/**
 * One field of the rules as a meet-semilattice: `meet` is idempotent, commutative and associative, and
 * a value is at least as strict as another exactly when their meet is that value.
 */
interface Field<T> {
  /** What holds when nobody says anything; its meet with any value is that value. */
  weakest: T
  meet: (a: T, b: T) => T
  /** One spelling for values that mean the same. */
  normal: (value: T) => T
}

const same = <T>(value: T): T => value

/** A requirement: true is stricter. */
const REQUIREMENT: Field<boolean> = { weakest: false, meet: (a, b) => a || b, normal: same }

/** An upper bound: smaller is stricter, null has no bound. */
const BOUND: Field<number | null> = {
  weakest: null,
  meet: (a, b) => (a === null ? b : b === null ? a : Math.min(a, b)),
  normal: same,
}

/** The same for money as decimal text. */
const MONEY_BOUND: Field<string | null> = {
  weakest: null,
  meet: (a, b) => (a === null ? b : b === null ? a : smallerAmount(a, b)),
  normal: (amount) => amount && normalAmount(amount),
}

/** Levels from the strictest to the weakest. */
function levels<T extends string>(order: readonly [T, ...T[]]): Field<T> {
  return {
    weakest: order.at(-1) ?? order[0],
    meet: (a, b) => (order.indexOf(a) < order.indexOf(b) ? a : b),
    normal: same,
  }
}

/** What is allowed: a subset is stricter, null allows everything, as a list of all there is does. */
function subset<T extends string>(all: readonly T[] | null): Field<T[] | null> {
  const normal = (value: T[] | null): T[] | null => {
    if (value === null || all?.every((item) => value.includes(item))) return null
    return all === null
      ? [...new Set(value)].toSorted()
      : all.filter((item) => value.includes(item))
  }
  return {
    weakest: null,
    normal,
    meet: (a, b) => (a === null ? b : b === null ? a : a.filter((item) => b.includes(item))),
  }
}

const FIELDS: { readonly [F in keyof Governance]: Field<Governance[F]> } = {
  maxAutonomyLevel: levels(AUTONOMY_LEVELS),
  requireApprovalForRun: REQUIREMENT,
  requireApprovalForCompletion: REQUIREMENT,
  allowedTaskPriorities: subset(PRIORITIES),
  allowedSkillProtocols: subset<string>(null),
  maxRunDurationSeconds: BOUND,
  maxRunActions: BOUND,
  maxConcurrentRuns: BOUND,
  maxRunTokens: BOUND,
  maxRunCost: MONEY_BOUND,
  maxMonthTokens: BOUND,
  maxMonthCost: MONEY_BOUND,
  maxTotalTokens: BOUND,
  maxTotalCost: MONEY_BOUND,
  memoryScopeSharing: levels(MEMORY_SHARING),
}

/** The rules where no layer says anything. */
export const UNRESTRICTED = whole((name) => FIELDS[name].weakest)

/** What a layer asks for, complete and in one spelling: fields that it leaves out are the weakest. */
export function complete(given: GivenGovernance): Governance {
  return whole((name) => completed(name, given))
}

/** Field by field the stricter of two. */
export function stricter(a: Governance, b: Governance): Governance {
  return whole((name) => meet(name, a, b))
}

/** Layers folded to what all of them ask for; their order makes no difference. */
export function fold(layers: readonly GivenGovernance[]): Governance {
  return layers.map(complete).reduce(stricter, UNRESTRICTED)
}

/** The fields in which two sets of rules differ. */
export function differing(a: Governance, b: Governance): (keyof Governance)[] {
  return GOVERNANCE_FIELDS.filter((name) => !equal(a[name], b[name]))
}

export interface Violation {
  path: string
  ancestor: unknown
  child: unknown
}

/** What a layer asks for that is weaker than the rules above it; fields it leaves out never are. */
export function weakenings(ancestor: Governance, given: GivenGovernance): Violation[] {
  const own = complete(given)
  const both = stricter(ancestor, own)
  return differing(own, both)
    .filter((name) => given[name] !== undefined)
    .map((name) => ({ path: `governance.${name}`, ancestor: ancestor[name], child: given[name] }))
}

function completed<F extends keyof Governance>(name: F, given: GivenGovernance): Governance[F] {
  const field: Field<Governance[F]> = FIELDS[name]
  const value: Governance[F] | undefined = given[name]
  return value === undefined ? field.weakest : field.normal(value)
}

function meet<F extends keyof Governance>(name: F, a: Governance, b: Governance): Governance[F] {
  const field: Field<Governance[F]> = FIELDS[name]
  return field.meet(a[name], b[name])
}

function whole(valueOf: (name: keyof Governance) => unknown): Governance {
  return Object.fromEntries(GOVERNANCE_FIELDS.map((name) => [name, valueOf(name)])) as Governance
}

function equal(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b)
}
