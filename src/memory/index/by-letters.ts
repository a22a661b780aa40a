import { TF_UNIT } from '../analysis/terms-of.ts'
import { PROFILES, inverseFrequency } from '../recall/bm25.ts'
import type { Corpus } from '../recall/score.ts'
import { addScore, createAccumulator, takeBest } from './accumulator.ts'
import type { Accumulator } from './accumulator.ts'
import { readableIn } from './best-slots.ts'
import { SHAPES } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import type { Segment } from './postings.ts'
import type { Sight } from './readable.ts'
import { READABLE } from './sights.ts'
import { lettersOf } from './spelling.ts'

/** A question by letters: runs of four, how rare each is, and the terms of the index that hold some. */
export interface LetterQuery {
  rarity: number[]
  terms: { segments: readonly Segment[]; runs: number[] }[]
}

/** Runs beyond this many postings in all are left out, the most common first. */
const MAX_POSTINGS = 30_000

/** What a search by letters is over: whose slots, and which of them it may find. */
export interface LetterScope {
  index: NamespaceIndex
  corpus: Corpus
  sight: Sight
  /** By number of a shape, whether slots of it may be found. */
  shapes: readonly boolean[]
}

/** Reads off the index which of its terms are spelt like those of a question. */
export function letterQuery(
  { index, sight, corpus }: LetterScope,
  terms: readonly string[],
): LetterQuery {
  const { spelling, postings } = index
  const { items } = corpus
  const words = terms.filter((term) => /^\p{L}+$/u.test(term))
  const sizes = new Map<number, number>()
  const sizeOf = (term: number): number => {
    const known = sizes.get(term)
    if (known !== undefined) return known
    const size = readableIn(postings.segments(term), sight)
    sizes.set(term, size)
    return size
  }
  const runs = [...new Set(words.flatMap(lettersOf))].map((letters) => {
    const holding = spelling.holding(letters)
    let size = 0
    for (const term of holding) size += sizeOf(term)
    return { holding, size }
  })
  const rarity: number[] = []
  const found = new Map<number, number[]>()
  let total = 0
  for (const { holding, size } of runs.toSorted((a, b) => a.size - b.size)) {
    total += size
    if (total > MAX_POSTINGS) break
    if (size === 0) continue
    const run = rarity.push(inverseFrequency(items, Math.min(size, items))) - 1
    for (const term of holding) {
      if (sizeOf(term) === 0) continue
      const held = found.get(term)
      if (held) held.push(run)
      else found.set(term, [run])
    }
  }
  return {
    rarity,
    terms: Array.from(found, ([term, held]) => ({
      segments: postings.segments(term),
      runs: held,
    })),
  }
}

/** The slots that are best by letters, roughly: each term counts by the runs it shares with the question. */
export function bestByLetters(
  scope: LetterScope,
  { rarity, terms }: LetterQuery,
  limit: number,
): number[] {
  const { index, corpus, sight } = scope
  const sums = createAccumulator(index.scratch, index.slots, index.slots)
  const norm = normOf(index, corpus)
  for (const { segments, runs } of terms) {
    const weight = runs.reduce((sum, run) => sum + (rarity[run] ?? 0), 0)
    if (weight <= 0) continue
    for (const segment of segments) addLetters(sums, segment, weight, { scope, norm })
  }
  return takeBest(sums, { limit, marks: sight.marks })
}

function addLetters(
  sums: Accumulator,
  { slots, tfs, from, to }: Segment,
  weight: number,
  { scope, norm }: { scope: LetterScope; norm: (slot: number) => number },
): void {
  for (let i = from; i < to; i++) {
    const slot = slots[i] ?? 0
    if (!isFound(scope, slot)) continue
    const tf = (tfs[i] ?? 0) / TF_UNIT
    addScore(sums, slot, (weight * tf) / (tf + norm(slot)))
  }
}

function isFound({ index, sight, shapes }: LetterScope, slot: number): boolean {
  const isReadable = ((sight.marks[slot] ?? 0) & READABLE) !== 0
  return isReadable && shapes[index.columns.shape[slot] ?? 0] === true
}

/** BM25 over runs of letters, exact for those of the given slots that may be found. */
export function letterScores(
  scope: LetterScope,
  { rarity, terms }: LetterQuery,
  given: readonly number[],
): Map<number, number> {
  const { index, corpus } = scope
  const slots = given.filter((slot) => isFound(scope, slot))
  const rows = index.scratch.rows(index.slots)
  for (const [row, slot] of slots.entries()) rows[slot] = row + 1
  const tfs = new Float32Array(slots.length * rarity.length)
  for (const { segments, runs } of terms) {
    for (const segment of segments) {
      for (let i = segment.from; i < segment.to; i++) {
        const row = (rows[segment.slots[i] ?? 0] ?? 0) - 1
        if (row === -1) continue
        const tf = (segment.tfs[i] ?? 0) / TF_UNIT
        for (const run of runs) {
          const at = row * rarity.length + run
          tfs[at] = (tfs[at] ?? 0) + tf
        }
      }
    }
  }
  for (const slot of slots) rows[slot] = 0
  const norm = normOf(index, corpus)
  return new Map(
    slots.map((slot, row) => {
      const base = norm(slot)
      let score = 0
      for (const [run, weight] of rarity.entries()) {
        const tf = tfs[row * rarity.length + run] ?? 0
        if (tf > 0) score += (weight * tf) / (tf + base)
      }
      return [slot, score]
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
