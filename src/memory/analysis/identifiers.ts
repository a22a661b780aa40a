/**
 * One family of machine-made names each; the order decides nothing. A search begins at most once in a
 * run of a family's own characters and has one way to match it: linear in the text.
 */
const FAMILIES: readonly RegExp[] = [
  /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/giu,
  /\b(?=[a-f]*\d)[0-9a-f]{7,40}\b/giu,
  /(?<![\p{L}\p{N}_.@~+-])[\p{L}\p{N}_.@~+-]*(?:\/[\p{L}\p{N}_.@~+-]+)+/gu,
  /\bv?\d+\.\d+(?:\.\d+)*(?:[-+][\p{L}\p{N}.]+)?/giu,
  /(?<![\p{L}\p{N}][:#-]?)[\p{L}\p{N}]+(?:[:#-][\p{L}\p{N}]+)*[:#-]?\d[\p{L}\p{N}]*/gu,
  /(?<![\p{L}\p{N}_])[\p{L}\p{N}]*_[\p{L}\p{N}_]*[\p{L}\p{N}]/gu,
  /(?<![\p{Lu}\p{Ll}\p{N}_])(?=\w)(?:\p{Lu}?\p{Ll}+(?:\p{Lu}+\p{Ll}*)+|\p{Lu}{2,}\p{Ll}+[\p{L}\p{N}]*)/gu,
  /(?<![\p{L}\p{N}_])\p{N}*[\p{L}_][\p{L}\p{N}_]*(?:\.[\p{L}_][\p{L}\p{N}_]*)+/gu,
]
const TRAILING = '.,:;#-'
const MIN_CHARS = 3
const MAX_CHARS = 300
const MAX_IDENTIFIERS = 8

/**
 * Names a machine gave, in the order they stand in the text: UUIDs, hashes, paths, versions, words with
 * digits or underscores, CamelCase, dotted names. At most 8, of 3 to 300 characters; short plain
 * numbers are not names, and a name inside a longer one is left out.
 */
export function identifiersIn(text: string): string[] {
  const found: Place[] = []
  for (const family of FAMILIES) {
    for (const match of text.matchAll(family)) {
      const value = withoutTail(match[0])
      if (!isIdentifier(value)) continue
      found.push({ start: match.index, end: match.index + value.length, value })
    }
  }
  return [...new Set(outermost(found).map(({ value }) => value))].slice(0, MAX_IDENTIFIERS)
}

interface Place {
  start: number
  end: number
  value: string
}

/** In the order of the text, without what lies inside a longer one. */
function outermost(found: readonly Place[]): Place[] {
  const inOrder = found.toSorted((a, b) => a.start - b.start || b.end - a.end)
  let widest: Place | undefined
  return inOrder.filter((place) => {
    const isInside =
      widest !== undefined &&
      place.end <= widest.end &&
      place.end - place.start < widest.end - widest.start
    if (widest === undefined || place.end > widest.end) widest = place
    return !isInside
  })
}

function withoutTail(match: string): string {
  let end = match.length
  while (end > 0 && TRAILING.includes(match.charAt(end - 1))) end -= 1
  return match.slice(0, end)
}

function isIdentifier(value: string): boolean {
  return (
    value.length >= MIN_CHARS && value.length <= MAX_CHARS && !/^\d{1,4}$|^[\d.]{1,3}$/u.test(value)
  )
}
