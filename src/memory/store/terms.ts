import { termsOf } from '../analysis/terms-of.ts'
import type { TextField } from '../analysis/terms-of.ts'

export interface StoredTerms {
  /** Array literals: 64-bit numbers do not survive JSON. */
  terms: string
  termTfs: string
  termCount: number
}

/** What the index stores of an item's text. */
export function storedTerms(namespaceId: string, fields: readonly TextField[]): StoredTerms {
  const { hashes, tfs, length } = termsOf(namespaceId, fields)
  return { terms: `{${hashes.join(',')}}`, termTfs: `{${tfs.join(',')}}`, termCount: length }
}
