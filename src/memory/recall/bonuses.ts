/** What the bonuses look at in a candidate. */
export interface BonusInput {
  text: string
  scopes: readonly string[]
  /** When it happened or became true. */
  at: Date | null
  openFact: boolean
  evidence: Evidence | null
  resolved: 'exact' | 'suffix' | null
}

export type Evidence = 'asserted' | 'extracted' | 'inferred' | 'derived'

export interface BonusContext {
  /** Lower-case identifiers of the query. */
  identifiers: readonly string[]
  scopes: ReadonlySet<string>
  asOf: Date
}

export type Bonus =
  | 'identifier'
  | 'scope'
  | 'open_fact'
  | 'evidence'
  | 'recency'
  | 'resolved_exact'
  | 'resolved_suffix'

const EVIDENCE_RANK: Readonly<Record<Evidence, number>> = {
  asserted: 3,
  extracted: 2,
  inferred: 1,
  derived: 1,
}
const HALF_LIFE_MS = 14 * 86_400_000

/**
 * The protocol's bonuses of a candidate, each by name; they add to `signals.rrf`. Recency is relative
 * to the moment asked about, so an old question is not answered by newer habits.
 */
export function bonusesOf(item: BonusInput, context: BonusContext): Partial<Record<Bonus, number>> {
  const bonuses: Partial<Record<Bonus, number>> = {}
  const text = item.text.toLowerCase()
  if (context.identifiers.some((name) => text.includes(name))) bonuses.identifier = 0.01
  if (item.scopes.some((scope) => context.scopes.has(scope))) bonuses.scope = 0.004
  if (item.openFact) bonuses.open_fact = 0.003
  if (item.evidence !== null) bonuses.evidence = EVIDENCE_RANK[item.evidence] * 0.002
  const recency = recencyOf(item.at, context.asOf)
  if (recency > 0) bonuses.recency = 0.005 * recency
  if (item.resolved === 'exact') bonuses.resolved_exact = 0.04
  if (item.resolved === 'suffix') bonuses.resolved_suffix = 0.015
  return bonuses
}

/** 1 for now, half as much every fourteen days before. */
export function recencyOf(at: Date | null, asOf: Date): number {
  if (at === null) return 0
  return 0.5 ** (Math.max(0, asOf.getTime() - at.getTime()) / HALF_LIFE_MS)
}

/**
 * What the same circumstances add to the fused score, whose scale is 1 for the best match by words:
 * enough to order like with like. `focus` is what being about the task or run in question is worth (see
 * `focusOf`); sharing no more than a workspace hardly counts.
 */
export function nudgeOf(bonuses: Partial<Record<Bonus, number>>, focus: number): number {
  const { identifier = 0, scope = 0, evidence = 0, recency = 0 } = bonuses
  return 10 * identifier + (focus > 0 ? focus : 5 * scope) + evidence + 2 * recency
}

const SAID_OF_IT = 0.3
const LEARNT_OF_IT = 1

/**
 * What was said of the very task or run in question is worth a fair match by words, whatever words it
 * uses. What was found or decided about it is worth the best one: it keeps its place in the pack
 * beside any number of documents that share the task's words.
 */
export function focusOf(
  item: Pick<BonusInput, 'scopes'>,
  context: Pick<BonusContext, 'scopes'>,
  isKnowledge: boolean,
): number {
  if (!isInFocus(item, context)) return 0
  return isKnowledge ? LEARNT_OF_IT : SAID_OF_IT
}

/** Whether an item is about the task or run that the request names. */
function isInFocus(
  { scopes }: Pick<BonusInput, 'scopes'>,
  context: Pick<BonusContext, 'scopes'>,
): boolean {
  return scopes.some((scope) => /^(?:task|run):/u.test(scope) && context.scopes.has(scope))
}
