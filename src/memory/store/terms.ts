import { termsOf } from '../analysis/terms-of.ts'
import type { TextField } from '../analysis/terms-of.ts'
import type { Namespace } from './write.ts'

export interface StoredTerms {
  /** Array literals: 64-bit numbers do not survive JSON. */
  terms: string
  termTfs: string
  termCount: number
}

/** What the index stores of an item's text, and the words that its namespace learns by it. */
export function analysedTerms(
  namespaceId: string,
  fields: readonly TextField[],
): { stored: StoredTerms; words: readonly string[] } {
  const { hashes, tfs, length, words } = termsOf(namespaceId, fields)
  const stored = {
    terms: `{${hashes.join(',')}}`,
    termTfs: `{${tfs.join(',')}}`,
    termCount: length,
  }
  return { stored, words }
}

/** The same for an item that is being written: its namespace has learnt the words. */
export function storedTerms(namespace: Namespace, fields: readonly TextField[]): StoredTerms {
  const { stored, words } = analysedTerms(namespace.id, fields)
  namespace.learn(words)
  return stored
}
