import { TF_UNIT } from '../analysis/terms-of.ts'
import { PROFILES, inverseFrequency } from '../recall/bm25.ts'
import type { Corpus } from '../recall/score.ts'
import { largest } from './largest.ts'
import { SHAPES } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import type { Segment } from './postings.ts'
import type { Sight } from './readable.ts'

/** How many readable slots hold each term. */
export function frequenciesOf(terms: readonly Segment[][], { isReadable }: Sight): number[] {
  return terms.map((segments) => {
    let count = 0
    for (const { slots, from, to } of segments) {
      for (let i = from; i < to; i++) if (isReadable(slots[i] ?? 0)) count += 1
    }
    return count
  })
}

/** The readable slots that the terms score highest by their own words, best first, at most `limit`. */
export function bestSlots(
  index: NamespaceIndex,
  sight: Sight,
  query: { terms: readonly Segment[][]; boosts: readonly number[]; corpus: Corpus },
  limit: number,
): number[] {
  const scores = new Float32Array(index.slots)
  const { length, shape } = index.columns
  const norms = SHAPES.map((name) => {
    const { k1, b } = PROFILES[name]
    const average = Math.max(query.corpus.averageLength[name], 1)
    return { k1, base: k1 * (1 - b), slope: (k1 * b) / average }
  })
  for (const [term, segments] of query.terms.entries()) {
    const df = query.corpus.frequencies[term] ?? 0
    const weight = inverseFrequency(query.corpus.items, df) * (query.boosts[term] ?? 1)
    for (const { slots, tfs, from, to } of segments) {
      for (let i = from; i < to; i++) {
        const slot = slots[i] ?? 0
        const norm = norms[shape[slot] ?? 0]
        if (norm === undefined) continue
        const tf = (tfs[i] ?? 0) / TF_UNIT
        const gain = (tf * (norm.k1 + 1)) / (tf + norm.base + norm.slope * (length[slot] ?? 0))
        scores[slot] = (scores[slot] ?? 0) + weight * gain
      }
    }
  }
  return largest(scores, limit, (slot) => sight.isReadable(slot) || sight.isReplaced(slot))
}
