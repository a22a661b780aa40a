import type { NamespaceRow } from '../recall/lexical.sql.ts'
import { estimatedBytes } from './estimate.ts'

/** Which namespaces are beyond the budget, by what is estimated and by what was found out. */
export interface TooLarge {
  /** Whether it is worth reading, or keeping, an index of the namespace. */
  mayFit: (namespace: NamespaceRow) => boolean
  /** Its index takes so many bytes, which is more than there is. */
  add: (namespace: NamespaceRow, bytes: number) => void
}

/** One that was too large is tried again when it should take no more than this share of the budget. */
const FITS_AGAIN = 0.9

export function createTooLarge(budgetBytes: number): TooLarge {
  /** Bytes for each byte that was estimated. */
  const factors = new Map<string, number>()
  return {
    mayFit: ({ id, sizes }) => {
      const estimate = estimatedBytes(sizes)
      const factor = factors.get(id)
      if (factor === undefined) return estimate <= budgetBytes
      if (estimate * factor > FITS_AGAIN * budgetBytes) return false
      factors.delete(id)
      return true
    },
    add: ({ id, sizes }, bytes) => {
      factors.set(id, Math.max(1, bytes / Math.max(1, estimatedBytes(sizes))))
    },
  }
}
