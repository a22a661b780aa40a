import { TF_UNIT } from '../analysis/terms-of.ts'
import { PROFILES, inverseFrequency } from '../recall/bm25.ts'
import type { Corpus } from '../recall/score.ts'
import { addScore, createAccumulator, takeBest } from './accumulator.ts'
import type { Accumulator } from './accumulator.ts'
import { SHAPES } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import type { Segment } from './postings.ts'
import type { Sight } from './readable.ts'
import { READABLE } from './sights.ts'

/** How many readable slots hold each term. */
export function frequenciesOf(terms: readonly (readonly Segment[])[], sight: Sight): number[] {
  return terms.map((segments) => readableIn(segments, sight))
}

/** How many postings are of readable slots. */
export function readableIn(segments: readonly Segment[], { marks }: Sight): number {
  let count = 0
  for (const { slots, from, to } of segments) {
    for (let i = from; i < to; i++) count += (marks[slots[i] ?? 0] ?? 0) & READABLE
  }
  return count
}

/** The readable slots that the terms score highest by their own words, best first, at most `limit`. */
export function bestSlots(
  index: NamespaceIndex,
  { marks }: Sight,
  query: { terms: readonly (readonly Segment[])[]; boosts: readonly number[]; corpus: Corpus },
  limit: number,
): number[] {
  const { items, frequencies } = query.corpus
  const sums = createAccumulator(index.scratch, index.slots, postingsIn(query.terms))
  const gainOf = gains(index, query.corpus)
  for (const [term, segments] of query.terms.entries()) {
    const rarity = inverseFrequency(items, frequencies[term] ?? 0)
    const weight = rarity * (query.boosts[term] ?? 1)
    if (weight <= 0) continue
    for (const segment of segments) addGains(sums, segment, weight, { marks, gainOf })
  }
  return takeBest(sums, { limit, marks })
}

/** BM25 of a term in a slot, without its rarity. */
type Gain = (slot: number, tf: number) => number

function gains({ columns }: NamespaceIndex, { averageLength }: Corpus): Gain {
  const { length, shape } = columns
  const k1 = Float64Array.from(SHAPES, (name) => PROFILES[name].k1)
  const base = Float64Array.from(SHAPES, (name) => PROFILES[name].k1 * (1 - PROFILES[name].b))
  const slope = Float64Array.from(
    SHAPES,
    (name) => (PROFILES[name].k1 * PROFILES[name].b) / Math.max(averageLength[name], 1),
  )
  return (slot, tf) => {
    const s = shape[slot] ?? 0
    const norm = (base[s] ?? 0) + (slope[s] ?? 0) * (length[slot] ?? 0)
    return (tf * ((k1[s] ?? 0) + 1)) / (tf + norm)
  }
}

function addGains(
  sums: Accumulator,
  { slots, tfs, from, to }: Segment,
  weight: number,
  { marks, gainOf }: { marks: Uint8Array; gainOf: Gain },
): void {
  for (let i = from; i < to; i++) {
    const slot = slots[i] ?? 0
    if ((marks[slot] ?? 0) === 0) continue
    addScore(sums, slot, weight * gainOf(slot, (tfs[i] ?? 0) / TF_UNIT))
  }
}

/** How many postings the terms have, whoever may read them. */
export function postingsIn(terms: readonly (readonly Segment[])[]): number {
  return terms.reduce(
    (sum, segments) => segments.reduce((some, { from, to }) => some + to - from, sum),
    0,
  )
}
