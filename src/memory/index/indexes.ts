import type { Sql } from '#db/sql.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import { createNamespaceIndex } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import { refresh } from './refresh.ts'

/** The indexes that this process keeps, within its budget. */
export interface Indexes {
  /**
   * The index of a namespace, as new as the row given or newer; undefined when the namespace has to be
   * searched in the database: it is beyond the budget, or large and still being read.
   */
  upToDate: (sql: Sql, namespace: NamespaceRow) => Promise<NamespaceIndex | undefined>
  readonly bytes: number
}

interface Kept {
  index: NamespaceIndex
  /** Ends with the last reading under way: one at a time changes an index. */
  busy: Promise<unknown>
  isReading: boolean
  usedAt: number
}

/** What an item takes with its words, roughly: enough to refuse a namespace before reading it. */
const BYTES_AN_ITEM = 400
/** What is read before the first answer; of more the database answers until it is read. */
const MAX_AWAITED_ITEMS = 20_000
/** An index with more slots that stand for nothing is built again. */
const MAX_GONE_SHARE = 0.3
const MIN_GONE = 10_000

export function createIndexes(budgetBytes: number): Indexes {
  const kept = new Map<string, Kept>()
  const tooLarge = new Set<string>()
  let clock = 0

  const bytes = () => Array.from(kept.values()).reduce((sum, { index }) => sum + index.bytes, 0)
  const makeRoom = (current: string): void => {
    const idle = [...kept].filter(([id]) => id !== current)
    idle.sort(([, a], [, b]) => a.usedAt - b.usedAt)
    for (const [id] of idle) {
      if (bytes() <= budgetBytes) return
      kept.delete(id)
    }
    if (bytes() <= budgetBytes) return
    kept.delete(current)
    tooLarge.add(current)
  }
  const keep = (id: string): Kept => {
    const known = kept.get(id)
    if (known && !isWorn(known.index)) return known
    const fresh = {
      index: createNamespaceIndex(id),
      busy: Promise.resolve(),
      isReading: false,
      usedAt: 0,
    }
    kept.set(id, fresh)
    return fresh
  }
  return {
    get bytes() {
      return bytes()
    },
    upToDate: async (sql, { id, version, sizes }) => {
      const items = sizes.reduce((sum, size) => sum + size.items, 0)
      if (tooLarge.has(id) || items * BYTES_AN_ITEM > budgetBytes) return undefined
      const entry = keep(id)
      entry.usedAt = clock++
      if (entry.index.version >= version) return entry.index
      const isLarge = entry.index.version === 0 && items > MAX_AWAITED_ITEMS
      if (isLarge && entry.isReading) return undefined
      entry.isReading = true
      const turn = entry.busy
        .then(() => refresh(sql, entry.index, version))
        .finally(() => {
          entry.isReading = false
          makeRoom(id)
        })
      entry.busy = turn.catch(() => {})
      if (isLarge) return undefined
      await turn
      return entry.index
    },
  }
}

function isWorn({ gone, slots }: NamespaceIndex): boolean {
  return gone > Math.max(MIN_GONE, MAX_GONE_SHARE * slots)
}
