import { READABLE, SUCCEEDED } from './sights.ts'

/**
 * Those of the slots that have the largest values and may be read or told of, largest first, at most
 * `limit`; of equal ones the first.
 */
export function largest(
  values: Float32Array,
  slots: Uint32Array,
  { limit, marks }: { limit: number; marks: Uint8Array },
): number[] {
  let best: number[] = []
  let least = 0
  for (const slot of slots) {
    const value = values[slot] ?? 0
    if (value < least || ((marks[slot] ?? 0) & (READABLE | SUCCEEDED)) === 0) continue
    best.push(slot)
    if (best.length < 2 * limit) continue
    best = sortedBy(values, best).slice(0, limit)
    least = values[best.at(-1) ?? 0] ?? 0
  }
  return sortedBy(values, best).slice(0, limit)
}

function sortedBy(values: Float32Array, slots: readonly number[]): number[] {
  return slots.toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b)
}
