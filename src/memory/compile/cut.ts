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
  const bySentence = longestPrefix(text, ends(text, SENTENCE_END), maxTokens)
  if (bySentence !== '') return bySentence
  const byWord = longestPrefix(text, ends(text, /\s+/gu), maxTokens - 1)
  return byWord === '' ? '' : byWord + ELLIPSIS
}

function ends(text: string, boundary: RegExp): number[] {
  return Array.from(text.matchAll(boundary), (match) => match.index + match[0].trimEnd().length)
}

/** The longest of the prefixes that fits, by bisection: the cost of a prefix grows with its length. */
function longestPrefix(text: string, positions: readonly number[], maxTokens: number): string {
  let low = 0
  let high = positions.length
  while (low < high) {
    const middle = (low + high + 1) >> 1
    const fits = countTokens(text.slice(0, positions[middle - 1])) <= maxTokens
    if (fits) low = middle
    else high = middle - 1
  }
  return low === 0 ? '' : text.slice(0, positions[low - 1]).trimEnd()
}
