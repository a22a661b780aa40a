/** One family of machine-made names each; the order decides nothing. */
const FAMILIES: readonly RegExp[] = [
  /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/giu,
  /\b(?=[0-9a-f]*\d)[0-9a-f]{7,40}\b/giu,
  /[\p{L}\p{N}_.@~+-]*(?:\/[\p{L}\p{N}_.@~+-]+)+/gu,
  /\bv?\d+\.\d+(?:\.\d+)*(?:[-+][\p{L}\p{N}.]+)?/giu,
  /[\p{L}\p{N}]+(?:[:#-][\p{L}\p{N}]+)*[:#-]?\d[\p{L}\p{N}]*/gu,
  /[\p{L}\p{N}]*_[\p{L}\p{N}_]*[\p{L}\p{N}]/gu,
  /\b\p{Lu}?\p{Ll}+(?:\p{Lu}+\p{Ll}*)+|\b\p{Lu}{2,}\p{Ll}+[\p{L}\p{N}]*/gu,
  /[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+/gu,
]
const MIN_CHARS = 3
const MAX_CHARS = 300
const MAX_IDENTIFIERS = 8

/**
 * Names a machine gave, in the order they stand in the text: UUIDs, hashes, paths, versions, words with
 * digits or underscores, CamelCase, dotted names. At most 8, of 3 to 300 characters; short plain
 * numbers are not names, and a name inside a longer one is left out.
 */
export function identifiersIn(text: string): string[] {
  const found: { start: number; end: number; value: string }[] = []
  for (const family of FAMILIES) {
    for (const match of text.matchAll(family)) {
      const value = match[0].replace(/[.,:;#-]+$/u, '')
      if (!isIdentifier(value)) continue
      found.push({ start: match.index, end: match.index + value.length, value })
    }
  }
  const widest = found.filter(
    (a) => !found.some((b) => b !== a && b.start <= a.start && b.end >= a.end && longer(b, a)),
  )
  const inOrder = widest.toSorted((a, b) => a.start - b.start)
  return [...new Set(inOrder.map(({ value }) => value))].slice(0, MAX_IDENTIFIERS)
}

function longer(b: { value: string }, a: { value: string }): boolean {
  return b.value.length > a.value.length
}

function isIdentifier(value: string): boolean {
  return (
    value.length >= MIN_CHARS && value.length <= MAX_CHARS && !/^\d{1,4}$|^[\d.]{1,3}$/u.test(value)
  )
}
