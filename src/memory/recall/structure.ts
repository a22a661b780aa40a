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
  [-1]: 0.45,
  1: 0.25,
  [-2]: 0.15,
  2: 0.1,
}
const ALL_NEIGHBOURS = 0.95
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
  for (const [key, neighbours] of bothWays(links)) {
    const unit = units.get(key)
    if (unit === undefined) continue
    const target = { tfs: Array.from(unit.tfs), length: unit.length }
    for (const [neighbour, offset] of neighbours) {
      const source = units.get(neighbour)
      const weight = NEIGHBOUR_WEIGHT[offset]
      if (source === undefined || weight === undefined) continue
      target.length += weight * source.length
      for (let i = 0; i < target.tfs.length; i++) {
        target.tfs[i] = (target.tfs[i] ?? 0) + weight * (source.tfs[i] ?? 0)
      }
      widened.set(key, target)
    }
  }
  return widened
}

/** Who stands beside each and where, in both directions, each pair once however often the links name it. */
function bothWays(links: readonly Link[]): Map<string, Map<string, number>> {
  const beside = new Map<string, Map<string, number>>()
  const note = (key: string, neighbour: string, offset: number): void => {
    const known = beside.get(key)
    if (known) known.set(neighbour, offset)
    else beside.set(key, new Map([[neighbour, offset]]))
  }
  for (const { from, to, offset } of links) {
    note(from, to, offset)
    note(to, from, -offset)
  }
  return beside
}

/** Average length of an item that has neighbours, given that of an item alone. */
export function widenedLength(averageLength: number): number {
  return averageLength * (1 + ALL_NEIGHBOURS)
}

/** The sessions and documents of a namespace as one engine or another knows them. */
export interface GroupCorpus {
  /** Those that candidates belong to, by name. */
  bags: ReadonlyMap<string, GroupBag>
  /** How many there are, and how long they are on average. */
  total: number
  averageLength: number
  /** How many of them hold each term of the query. */
  holding: readonly number[]
}

/**
 * The score each session or document adds to its items: BM25 of it as one document, with rarity counted
 * in sessions. A term of weight 0 counts for none.
 */
export function groupScores(corpus: GroupCorpus, weights: readonly number[]): Map<string, number> {
  const rarity = weights.map((weight, term) =>
    weight === 0 ? 0 : inverseFrequency(corpus.total, corpus.holding[term] ?? 0),
  )
  const scores = new Map<string, number>()
  for (const [group, bag] of corpus.bags) {
    if (bag.items < 2) continue
    const score = bm25(bag, rarity, corpus.averageLength, PROFILES.session)
    scores.set(group, GROUP_WEIGHT * score)
  }
  return scores
}

/**
 * How many items a session is taken to have where only what was found of it is known. Real sizes
 * instead change nDCG@10 on dialogues by less than 0.1.
 */
const SESSION_ITEMS = 20

/** What the found items alone tell of their sessions; `terms` is how many terms the query has. */
export function groupsFound(
  units: Iterable<Unit>,
  { terms, items, averageLength }: { terms: number; items: number; averageLength: number },
): GroupCorpus {
  const found = bagsOf(units)
  const unseen = (SESSION_ITEMS / 2) * averageLength
  const holding = Array.from({ length: terms }, (_, term) => {
    let count = 0
    for (const { tfs } of found.values()) if ((tfs[term] ?? 0) > 0) count++
    return count
  })
  return {
    bags: new Map(
      Array.from(found, ([group, bag]) => [group, { ...bag, length: bag.length + unseen }]),
    ),
    total: Math.max(found.size, items / SESSION_ITEMS),
    averageLength: unseen + mean(Array.from(found.values(), ({ length }) => length)),
    holding,
  }
}

/** A session as one document. */
export interface GroupBag {
  tfs: number[]
  length: number
  items: number
}

function bagsOf(units: Iterable<Unit>): Map<string, GroupBag> {
  const bags = new Map<string, GroupBag>()
  for (const { group, tfs, length } of units) {
    if (group === null) continue
    const bag = bags.get(group) ?? { tfs: [], length: 0, items: 0 }
    for (let i = 0; i < tfs.length; i++) bag.tfs[i] = (bag.tfs[i] ?? 0) + (tfs[i] ?? 0)
    bag.length += length
    bag.items++
    bags.set(group, bag)
  }
  return bags
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length
}
