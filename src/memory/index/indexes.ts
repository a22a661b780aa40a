import type { Sql } from '#db/sql.ts'
import type { Log } from '#lib/log.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import type { IndexCache } from './index-cache.ts'
import { createNamespaceIndex } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import { refresh } from './refresh.ts'
import { createTooLarge } from './too-large.ts'

/** The indexes that this process keeps, within its budget. */
export interface Indexes {
  /**
   * The index of a namespace, as new as the row given or newer; undefined when the namespace has to be
   * searched in the database: it is beyond the budget, large and still being read, or could not be read.
   */
  upToDate: (sql: Sql, namespace: NamespaceRow) => Promise<NamespaceIndex | undefined>
  readonly bytes: number
  /** How many namespaces have one. */
  readonly count: number
}

/** Told what becomes of the indexes, for metrics. */
export interface IndexMeter {
  loaded: (seconds: number) => void
  failed: () => void
  dropped: () => void
  sized: (bytes: number, count: number) => void
}

export interface IndexesDeps {
  budgetBytes: number
  log: Log
  meter?: IndexMeter | undefined
  /** Where indexes are kept across restarts; undefined for nowhere. */
  cache?: IndexCache | undefined
  /** Milliseconds that only grow. */
  clock?: () => number
}

interface Kept {
  index: NamespaceIndex
  /** Ends with the last reading under way, and never fails: one at a time changes an index. */
  busy: Promise<unknown>
  isReading: boolean
  usedAt: number
  /** Readings that failed in a row, and before when no other is tried. */
  failures: number
  retryAt: number
}

/** What is read before the first answer; of more the database answers until it is read. */
const MAX_AWAITED_ITEMS = 20_000
/** An index with more slots that stand for nothing is built again. */
const MAX_GONE_SHARE = 0.3
const MIN_GONE = 10_000
/** Pauses after readings that failed double from the first to the longest. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 60_000

export function createIndexes(deps: IndexesDeps): Indexes {
  const { budgetBytes, meter, clock = () => performance.now() } = deps
  const kept = new Map<string, Kept>()
  const tooLarge = createTooLarge(budgetBytes)
  let uses = 0

  const bytes = () => Array.from(kept.values()).reduce((sum, { index }) => sum + index.bytes, 0)
  const makeRoom = (current: string): void => {
    const idle = [...kept].filter(([id]) => id !== current)
    idle.sort(([, a], [, b]) => a.usedAt - b.usedAt)
    for (const [id] of idle) {
      if (bytes() <= budgetBytes) break
      kept.delete(id)
      meter?.dropped()
    }
    meter?.sized(bytes(), kept.size)
  }
  const read = async (sql: Sql, entry: Kept, namespace: NamespaceRow): Promise<void> => {
    if ((await readInto(sql, entry, namespace, { ...deps, clock })) === 'too large') {
      tooLarge.add(namespace, entry.index.bytes)
      kept.delete(namespace.id)
    }
    makeRoom(namespace.id)
  }
  const entryOf = (id: string): Kept => {
    const known = kept.get(id)
    if (known && !isWorn(known.index)) return known
    const fresh = newEntry(id)
    kept.set(id, fresh)
    return fresh
  }
  return {
    get bytes() {
      return bytes()
    },
    get count() {
      return kept.size
    },
    upToDate: async (sql, namespace) => {
      const { id, version } = namespace
      if (!tooLarge.mayFit(namespace)) {
        if (kept.delete(id)) makeRoom(id)
        return undefined
      }
      const entry = entryOf(id)
      entry.usedAt = uses++
      if (entry.index.version < version) {
        const isLarge = entry.index.version === 0 && itemsOf(namespace) > MAX_AWAITED_ITEMS
        if (clock() < entry.retryAt || (isLarge && entry.isReading)) return undefined
        inTurn(entry, () => read(sql, entry, namespace))
        if (isLarge) return undefined
        await entry.busy
      } else if (entry.index.isChanging) await entry.busy
      const isFresh = entry.index.version >= version && kept.get(id) === entry
      return isFresh ? entry.index : undefined
    },
  }
}

/** Brings the index of an entry up to date; a failure is counted, told and tried again after a pause. */
async function readInto(
  sql: Sql,
  entry: Kept,
  { id, version }: NamespaceRow,
  { budgetBytes, log, meter, cache, clock }: IndexesDeps & { clock: () => number },
): Promise<'read' | 'too large' | 'failed'> {
  const isFirst = entry.index.version === 0
  const begun = clock()
  const limits = { version, maxBytes: budgetBytes }
  try {
    if (isFirst) entry.index = (await cache?.read(sql, id)) ?? entry.index
    let result = await refresh(sql, entry.index, limits)
    if (result === 'lost') {
      entry.index = createNamespaceIndex(id)
      result = await refresh(sql, entry.index, limits)
    }
    entry.failures = 0
    if (result === 'too large') return result
    if (isFirst) meter?.loaded((clock() - begun) / 1_000)
    await cache?.keep(sql, entry.index)
    return 'read'
  } catch (error) {
    entry.failures += 1
    const pause = FIRST_PAUSE_MS * 2 ** (entry.failures - 1)
    entry.retryAt = clock() + Math.min(LONGEST_PAUSE_MS, pause)
    meter?.failed()
    const { failures } = entry
    log.error('Cannot read a search index', error, { namespaceId: id, failures })
    return 'failed'
  }
}

/** Lets the work follow what is under way. */
function inTurn(entry: Kept, work: () => Promise<void>): void {
  entry.isReading = true
  entry.busy = entry.busy.then(work).finally(() => {
    entry.isReading = false
  })
}

function newEntry(id: string): Kept {
  return {
    index: createNamespaceIndex(id),
    busy: Promise.resolve(),
    isReading: false,
    usedAt: 0,
    failures: 0,
    retryAt: -Infinity,
  }
}

function itemsOf({ sizes }: NamespaceRow): number {
  return sizes.reduce((sum, size) => sum + size.items, 0)
}

function isWorn({ gone, slots }: NamespaceIndex): boolean {
  return gone > Math.max(MIN_GONE, MAX_GONE_SHARE * slots)
}
