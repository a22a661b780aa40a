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

/** The items with the words of their neighbours added at their weights; the input stays as it is. */
export function withNeighbours(units: ReadonlyMap<string, Unit>, links: readonly Link[]): Unit[] {
  const widened = new Map<string, Unit>()
  for (const unit of units.values()) {
    widened.set(unit.key, { ...unit, tfs: Array.from(unit.tfs) })
  }
  for (const [key, neighbour, offset] of bothWays(links)) {
    const target = widened.get(key)
    const source = units.get(neighbour)
    const weight = NEIGHBOUR_WEIGHT[offset]
    if (target === undefined || source === undefined || weight === undefined) continue
    target.length += weight * source.length
    target.tfs = Array.from(target.tfs, (tf, i) => tf + weight * (source.tfs[i] ?? 0))
  }
  return [...widened.values()]
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

/**
 * The score each session adds to its items: BM25 of the session as one document. The frequencies are
 * those of the units given; rarity is counted in sessions, of which the namespace has about as many as
 * its items fill at the average size seen here.
 */
export function groupScores(
  units: Iterable<Unit>,
  groups: ReadonlyMap<string, GroupSize>,
  totalItems: number,
): Map<string, number> {
  const bags = new Map<string, number[]>()
  for (const { group, tfs } of units) {
    if (group === null) continue
    const sum = bags.get(group)
    if (sum === undefined) bags.set(group, Array.from(tfs))
    else for (let i = 0; i < sum.length; i++) sum[i] = (sum[i] ?? 0) + (tfs[i] ?? 0)
  }
  const sizes = [...groups.values()]
  const averageItems = mean(sizes.map(({ items }) => items))
  const averageLength = mean(sizes.map(({ length }) => length))
  const total = Math.max(bags.size, totalItems / Math.max(1, averageItems))
  const weights = Array.from(bags.values().next().value ?? [], (_, term) =>
    inverseFrequency(total, [...bags.values()].filter((tfs) => (tfs[term] ?? 0) > 0).length),
  )
  const scores = new Map<string, number>()
  for (const [group, tfs] of bags) {
    const length = groups.get(group)?.length ?? averageLength
    scores.set(
      group,
      GROUP_WEIGHT * bm25({ tfs, length }, weights, averageLength, PROFILES.session),
    )
  }
  return scores
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
