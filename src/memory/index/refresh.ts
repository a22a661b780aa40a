import { setImmediate } from 'node:timers/promises'
import type { Sql } from '#db/sql.ts'
import { selectWords } from '../store/vocabulary.sql.ts'
import { selectChanges, selectIndexItems, selectIndexPage, selectWrittenAt } from './index.sql.ts'
import type { ChangedItems } from './index.sql.ts'
import type { IndexRow, NamespaceIndex } from './namespace-index.ts'

const PAGE = 1_000
/** How long the process may be busy with an index before others get their turn, in milliseconds. */
const SLICE_MS = 8
/** So few changes take less than a slice. */
const MAX_AT_ONCE = 250

/** What came of bringing an index up to date. */
export type Refreshed =
  /** It is of the version asked for, or newer. */
  | 'fresh'
  /** The log of changes does not go on from its version: it has to be read anew. */
  | 'lost'
  /** It takes more than it may. */
  | 'too large'

/**
 * Brings an index to `version` or beyond: reads everything into one that is of no version yet, else what
 * changed since its own. While more changes than fit in a slice are applied, `index.isChanging` says so.
 */
export async function refresh(
  sql: Sql,
  index: NamespaceIndex,
  { version, maxBytes }: { version: number; maxBytes: number },
): Promise<Refreshed> {
  if (index.version >= version) return 'fresh'
  if (index.version === 0) return await load(sql, index, { version, maxBytes })
  const changes = await selectChanges(sql, index.namespaceId, index.version)
  const [own] = changes
  if (own?.version !== index.version || own.writtenAt !== index.writtenAt) return 'lost'
  const later = changes.filter((change) => change.version > index.version)
  const [forgotten, changed] = [later.filter(isWord), later.filter((one) => !isWord(one))]
  const items = [...new Set(changed.flatMap((change) => change.items.map(Number)))]
  const found: IndexRow[] = []
  for (let start = 0; start < items.length; start += PAGE) {
    found.push(
      ...(await selectIndexItems(sql, index.namespaceId, items.slice(start, start + PAGE))),
    )
  }
  const words = await selectWords(sql, index.namespaceId, index.version)
  const hashes = forgotten.flatMap((change) => change.items)
  await apply(index, { items, found, forgotten: hashes, words })
  const last = later.at(-1)
  index.version = last?.version ?? version
  index.writtenAt = last?.writtenAt ?? index.writtenAt
  await compacted(index)
  return index.bytes > maxBytes ? 'too large' : 'fresh'
}

interface Changed {
  items: readonly number[]
  found: readonly IndexRow[]
  /** Hashes of the terms of words that no item holds any more. */
  forgotten: readonly string[]
  words: readonly string[]
}

async function apply(index: NamespaceIndex, changed: Changed): Promise<void> {
  const steps = applying(index, changed)
  if (sizeOf(changed) <= MAX_AT_ONCE) {
    for (const _ of steps);
    return
  }
  index.isChanging = true
  try {
    await inSlices(steps)
  } finally {
    index.isChanging = false
  }
}

function sizeOf({ items, forgotten, words }: Changed): number {
  return items.length + forgotten.length + words.length
}

function* applying(
  index: NamespaceIndex,
  { items, found, forgotten, words }: Changed,
): Generator<undefined> {
  const searchable = new Set(found.map(({ item }) => Number(item)))
  for (const item of items) if (!searchable.has(item)) index.remove(item)
  yield
  yield* putting(index, found)
  for (const hash of forgotten) {
    index.forget(BigInt(hash))
    yield
  }
  yield* learning(index, words)
}

/** Reads a whole namespace. What changes meanwhile is younger than `version` and is read again. */
async function load(
  sql: Sql,
  index: NamespaceIndex,
  { version, maxBytes }: { version: number; maxBytes: number },
): Promise<Refreshed> {
  const writtenAt = await selectWrittenAt(sql, index.namespaceId, version)
  let after = 0
  for (;;) {
    const rows = await selectIndexPage(sql, index.namespaceId, after, PAGE)
    await inSlices(putting(index, rows))
    await compacted(index)
    if (index.bytes > maxBytes) return 'too large'
    if (rows.length < PAGE) break
    after = Number(rows.at(-1)?.item ?? 0)
  }
  const words = await selectWords(sql, index.namespaceId, 0)
  await inSlices(learning(index, words))
  await inSlices(index.postings.compact())
  index.version = version
  index.writtenAt = writtenAt
  return index.bytes > maxBytes ? 'too large' : 'fresh'
}

/** Words that no item holds any more, by the hashes of their terms. */
function isWord({ kind }: ChangedItems): boolean {
  return kind === 'word'
}

function* putting(index: NamespaceIndex, rows: readonly IndexRow[]): Generator<undefined> {
  for (const row of rows) {
    index.put(row)
    yield
  }
}

export function* learning(index: NamespaceIndex, words: readonly string[]): Generator<undefined> {
  for (const word of words) {
    index.learn(word)
    yield
  }
}

async function compacted({ postings }: NamespaceIndex): Promise<void> {
  if (postings.isFragmented) await inSlices(postings.compact())
}

/** Does the steps one after the other, never longer than a slice without letting others have their turn. */
export async function inSlices(steps: Iterable<undefined>): Promise<void> {
  let started = performance.now()
  for (const _ of steps) {
    if (performance.now() - started < SLICE_MS) continue
    await setImmediate()
    started = performance.now()
  }
}
