import { largest } from './largest.ts'
import type { Scratch } from './scratch.ts'

/** Sums of scores by slot, with the slots that have one. */
export interface Accumulator {
  scores: Float32Array
  touched: Uint32Array
  count: number
}

/** Nothing yet; `most` slots at most will get a score. */
export function createAccumulator(scratch: Scratch, slots: number, most: number): Accumulator {
  return {
    scores: scratch.scores(slots),
    touched: scratch.touched(Math.min(slots, most)),
    count: 0,
  }
}

/** Adds a score above 0. */
export function addScore(sums: Accumulator, slot: number, score: number): void {
  const before = sums.scores[slot] ?? 0
  if (before === 0) sums.touched[sums.count++] = slot
  sums.scores[slot] = before + score
}

/** The best slots, best first, and the scratch is as it was. */
export function takeBest(
  { scores, touched, count }: Accumulator,
  pick: { limit: number; marks: Uint8Array },
): number[] {
  const best = largest(scores, touched.subarray(0, count), pick)
  for (let i = 0; i < count; i++) scores[touched[i] ?? 0] = 0
  return best
}
