import { PROFILES, bm25, inverseFrequency } from './bm25.ts'
import type { Bag } from './bm25.ts'

/** An item as the scorer sees it. `group` is its session or document, shared by its neighbours. */
export interface Unit extends Bag {
  key: string
  group: string | null
}

/** `to` stands `offset` places after `from` in their group: -2, -1, 1 or 2. */
export interface Link {
  from: string
  to: string
  offset: number
}

/**
 * How much a neighbour's text counts for an item: an answer is found by the words of the question
 * before it. Measured on dialogues: worth 6.7 nDCG@10 together with the session's score.
 */
const NEIGHBOUR_WEIGHT: Readonly<Record<number, number>> = {
  [-1]: 0.35,
  1: 0.25,
  [-2]: 0.15,
  2: 0.1,
}
const ALL_NEIGHBOURS = 0.85
/** Share of the whole session's score that each of its items gets. */
const GROUP_WEIGHT = 0.2

/**
 * Each item that has neighbours, with their words added at their weights; the input stays as it is.
 * Items without a link are as they were and not in the answer.
 */
export function withNeighbours(
  units: ReadonlyMap<string, Unit>,
  links: readonly Link[],
): Map<string, Bag> {
  const widened = new Map<string, { tfs: number[]; length: number }>()
  for (const [key, neighbour, offset] of bothWays(links)) {
    const unit = units.get(key)
    const source = units.get(neighbour)
    const weight = NEIGHBOUR_WEIGHT[offset]
    if (unit === undefined || source === undefined || weight === undefined) continue
    const target = widened.get(key) ?? { tfs: Array.from(unit.tfs), length: unit.length }
    target.length += weight * source.length
    for (let i = 0; i < target.tfs.length; i++) {
      target.tfs[i] = (target.tfs[i] ?? 0) + weight * (source.tfs[i] ?? 0)
    }
    widened.set(key, target)
  }
  return widened
}

/** Each pair once in both directions, however often the links name it. */
function bothWays(links: readonly Link[]): [string, string, number][] {
  const pairs = new Map<string, [string, string, number]>()
  for (const { from, to, offset } of links) {
    pairs.set(`${from}\n${to}`, [from, to, offset])
    pairs.set(`${to}\n${from}`, [to, from, -offset])
  }
  return [...pairs.values()]
}

/** Average length of an item that has neighbours, given that of an item alone. */
export function widenedLength(averageLength: number): number {
  return averageLength * (1 + ALL_NEIGHBOURS)
}

/** What the scorer knows about one session: how long it is and how many items it has. */
export interface GroupSize {
  length: number
  items: number
}

/** Which terms count, and of how many items the namespace consists. */
export interface GroupContext {
  /** A term of weight 0 counts for no session. */
  weights: readonly number[]
  items: number
}

/**
 * The score each session in `groups` adds to its items: BM25 of the session as one document. The
 * frequencies are those of the units given; rarity is counted in sessions, of which the namespace has
 * about as many as its items fill at the average size seen here.
 */
export function groupScores(
  units: Iterable<Unit>,
  groups: ReadonlyMap<string, GroupSize>,
  { weights, items }: GroupContext,
): Map<string, number> {
  const bags = bagsOf(units)
  const sizes = [...groups.values()]
  const averageItems = mean(sizes.map((size) => size.items))
  const averageLength = mean(sizes.map(({ length }) => length))
  const total = Math.max(bags.size, items / Math.max(1, averageItems))
  const rarity = weights.map((weight, term) => {
    if (weight === 0) return 0
    let holding = 0
    for (const tfs of bags.values()) if ((tfs[term] ?? 0) > 0) holding++
    return inverseFrequency(total, holding)
  })
  const scores = new Map<string, number>()
  for (const [group, { length }] of groups) {
    const bag = { tfs: bags.get(group) ?? [], length }
    scores.set(group, GROUP_WEIGHT * bm25(bag, rarity, averageLength, PROFILES.session))
  }
  return scores
}

function bagsOf(units: Iterable<Unit>): Map<string, number[]> {
  const bags = new Map<string, number[]>()
  for (const { group, tfs } of units) {
    if (group === null) continue
    const sum = bags.get(group)
    if (sum === undefined) bags.set(group, Array.from(tfs))
    else for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (tfs[i] ?? 0)
  }
  return bags
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
