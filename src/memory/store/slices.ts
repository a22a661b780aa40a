/** Rows in one statement: enough to be fast, few enough to bound memory and the pause of the process. */
const SLICE = 2000

export function* slices<T>(rows: readonly T[]): Generator<readonly T[]> {
  for (let start = 0; start < rows.length; start += SLICE) yield rows.slice(start, start + SLICE)
}
