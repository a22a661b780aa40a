import type { NamespaceRow } from '../recall/lexical.sql.ts'

/**
 * Measured on messages of 24 words and chunks of 60: columns, slots of items and members of groups of an item,
 * and the postings of a word with its share of terms. A test compares with what the arrays take.
 */
const BYTES_AN_ITEM = 150
const BYTES_A_WORD = 9

/** About what the index of a namespace takes: enough to refuse a large one before reading it. */
export function estimatedBytes(sizes: NamespaceRow['sizes']): number {
  return sizes.reduce(
    (sum, { items, words }) => sum + items * BYTES_AN_ITEM + words * BYTES_A_WORD,
    0,
  )
}
