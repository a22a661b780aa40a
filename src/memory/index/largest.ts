/** Indexes of the largest values above 0 that are admitted, largest first, at most `limit`. */
export function largest(
  values: Float32Array,
  limit: number,
  isAdmitted: (index: number) => boolean,
): number[] {
  let best: number[] = []
  let least = 0
  for (let i = 0; i < values.length; i++) {
    if ((values[i] ?? 0) <= least || !isAdmitted(i)) continue
    best.push(i)
    if (best.length < 2 * limit) continue
    best = sortedBy(values, best).slice(0, limit)
    least = values[best.at(-1) ?? 0] ?? 0
  }
  return sortedBy(values, best).slice(0, limit)
}

function sortedBy(values: Float32Array, indexes: readonly number[]): number[] {
  return indexes.toSorted((a, b) => (values[b] ?? 0) - (values[a] ?? 0) || a - b)
}
