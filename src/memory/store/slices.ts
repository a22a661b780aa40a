/**
 * Rows in one statement: enough to be fast, few enough to bound memory and the pause of the process. What
 * costs time for each row, such as its terms, is worked out slice by slice, so that others get their turn.
 */
const SLICE = 500

export function* slices<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += SLICE) yield rows.slice(start, start + SLICE)
}
