import { TF_UNIT } from '../analysis/terms-of.ts'
import { PROFILES, inverseFrequency } from '../recall/bm25.ts'
import type { Corpus } from '../recall/score.ts'
import { SHAPES } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import type { Segment } from './postings.ts'
import { largest } from './largest.ts'
import type { Sight } from './readable.ts'
import { lettersOf } from './spelling.ts'

/** A question by letters: runs of four, how rare each is, and the terms of the index that hold some. */
export interface LetterQuery {
  rarity: number[]
  terms: { segments: Segment[]; runs: number[] }[]
}

/** Runs beyond this many postings in all are left out, the most common first. */
const MAX_POSTINGS = 300_000

/** What a search by letters is over: whose slots, and which of them it may find. */
export interface LetterScope {
  index: NamespaceIndex
  corpus: Corpus
  isScored: (slot: number) => boolean
}

/** Reads off the index which of its terms are spelt like those of a question. */
export function letterQuery(
  index: NamespaceIndex,
  sight: Sight,
  terms: readonly string[],
  items: number,
): LetterQuery {
  const { spelling, postings } = index
  const words = terms.filter((term) => /^\p{L}+$/u.test(term))
  const sizes = new Map<number, number>()
  const sizeOf = (term: number): number => {
    const known = sizes.get(term) ?? readableIn(postings.segments(term), sight)
    sizes.set(term, known)
    return known
  }
  const runs = [...new Set(words.flatMap(lettersOf))].map((letters) => {
    const holding = spelling.holding(letters)
    return { holding, size: holding.reduce((sum, term) => sum + sizeOf(term), 0) }
  })
  const rarity: number[] = []
  const found = new Map<number, number[]>()
  let total = 0
  for (const { holding, size } of runs.toSorted((a, b) => a.size - b.size)) {
    total += size
    if (size === 0 || total > MAX_POSTINGS) continue
    const run = rarity.push(inverseFrequency(items, Math.min(size, items))) - 1
    for (const term of holding) found.set(term, [...(found.get(term) ?? []), run])
  }
  return {
    rarity,
    terms: Array.from(found, ([term, held]) => ({
      segments: postings.segments(term),
      runs: held,
    })),
  }
}

function readableIn(segments: readonly Segment[], { isReadable }: Sight): number {
  let count = 0
  for (const { slots, from, to } of segments) {
    for (let i = from; i < to; i++) if (isReadable(slots[i] ?? 0)) count += 1
  }
  return count
}

/** The slots that are best by letters, roughly: each term counts by the runs it shares with the question. */
export function bestByLetters(
  { index, corpus, isScored }: LetterScope,
  { rarity, terms }: LetterQuery,
  limit: number,
): number[] {
  const scores = new Float32Array(index.slots)
  const norm = normOf(index, corpus)
  for (const { segments, runs } of terms) {
    const weight = runs.reduce((sum, run) => sum + (rarity[run] ?? 0), 0)
    for (const { slots, tfs, from, to } of segments) {
      for (let i = from; i < to; i++) {
        const slot = slots[i] ?? 0
        const tf = (tfs[i] ?? 0) / TF_UNIT
        scores[slot] = (scores[slot] ?? 0) + (weight * tf) / (tf + norm(slot))
      }
    }
  }
  return largest(scores, limit, isScored)
}

/** BM25 over runs of letters, exact for those of the given slots that may be found. */
export function letterScores(
  { index, corpus, isScored }: LetterScope,
  { rarity, terms }: LetterQuery,
  given: readonly number[],
): Map<number, number> {
  const slots = given.filter(isScored)
  const rows = new Int32Array(index.slots).fill(-1)
  for (const [row, slot] of slots.entries()) rows[slot] = row
  const tfs = new Float32Array(slots.length * rarity.length)
  for (const { segments, runs } of terms) {
    for (const segment of segments) {
      for (let i = segment.from; i < segment.to; i++) {
        const row = rows[segment.slots[i] ?? 0] ?? -1
        if (row === -1) continue
        const tf = (segment.tfs[i] ?? 0) / TF_UNIT
        for (const run of runs) {
          const at = row * rarity.length + run
          tfs[at] = (tfs[at] ?? 0) + tf
        }
      }
    }
  }
  const norm = normOf(index, corpus)
  return new Map(
    slots.map((slot, row) => {
      const held = tfs.subarray(row * rarity.length, (row + 1) * rarity.length)
      const base = norm(slot)
      return [slot, held.reduce((sum, tf, run) => sum + ((rarity[run] ?? 0) * tf) / (tf + base), 0)]
    }),
  )
}

/** The part of BM25 that grows with length; runs of letters come in proportion to words. */
function normOf({ columns }: NamespaceIndex, { averageLength }: Corpus) {
  const { k1, b } = PROFILES.document
  const slopes = SHAPES.map((shape) => (k1 * b) / Math.max(averageLength[shape], 1))
  return (slot: number): number =>
    k1 * (1 - b) + (slopes[columns.shape[slot] ?? 0] ?? 0) * (columns.length[slot] ?? 0)
}
