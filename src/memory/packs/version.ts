/**
 * Orders versions, oldest first: `1.10` after `1.9`, `1.0-beta` before `1.0`. Numbers are compared as
 * numbers of any size, other parts as text.
 */
export function compareVersions(a: string, b: string): number {
  const left = partsOf(a)
  const right = partsOf(b)
  for (let n = 0; n < Math.max(left.length, right.length); n += 1) {
    const order = compareParts(left[n], right[n])
    if (order !== 0) return order
  }
  return 0
}

/** `1.0-beta` as `1`, `.0`, `-beta`. */
function partsOf(version: string): string[] {
  return version.split(/(?=[.+-])/)
}

function compareParts(a: string | undefined, b: string | undefined): number {
  if (a === undefined) return b?.startsWith('-') ? 1 : -1
  if (b === undefined) return a.startsWith('-') ? -1 : 1
  const [left, right] = [numberOf(a), numberOf(b)]
  if (left !== undefined && right !== undefined && left !== right) return left < right ? -1 : 1
  if (a === b) return 0
  return a < b ? -1 : 1
}

function numberOf(part: string): bigint | undefined {
  const digits = part.replace(/^[.+-]/, '')
  return /^\d+$/.test(digits) ? BigInt(digits) : undefined
}
