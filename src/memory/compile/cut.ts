import { countTokens } from './tokens.ts'

/** Where a text may end without losing its sense: after a sentence or at the end of a line. */
const SENTENCE_END = /[.!?…。！？](?=["'»”)\]]*\s|$)["'»”)\]]*|\n/gu
const ELLIPSIS = ' …'

/**
 * The beginning of a text that costs at most `maxTokens`: cut after a sentence, or after a word when
 * even the first sentence is too long. The same text when it fits; empty when nothing does.
 */
export function cutToTokens(text: string, maxTokens: number): string {
  if (maxTokens < 1) return ''
  if (countTokens(text) <= maxTokens) return text
  const bySentence = longestPrefix(text, ends(text, SENTENCE_END), { maxTokens, mark: '' })
  if (bySentence !== '') return bySentence
  return longestPrefix(text, ends(text, /\s+/gu), { maxTokens, mark: ELLIPSIS })
}

function ends(text: string, boundary: RegExp): number[] {
  return Array.from(text.matchAll(boundary), (match) => match.index + match[0].trimEnd().length)
}

/**
 * The longest of the prefixes that fits with its mark, by bisection: the cost of a prefix grows with
 * its length, nearly always; what is returned has been counted as it is.
 */
function longestPrefix(
  text: string,
  positions: readonly number[],
  { maxTokens, mark }: { maxTokens: number; mark: string },
): string {
  let best = ''
  let low = 0
  let high = positions.length
  while (low < high) {
    const middle = (low + high + 1) >> 1
    const prefix = text.slice(0, positions[middle - 1]).trimEnd()
    const marked = prefix === '' ? '' : prefix + mark
    if (countTokens(marked) <= maxTokens) {
      low = middle
      best = marked
    } else high = middle - 1
  }
  return best
}
