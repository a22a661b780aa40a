import { setImmediate } from 'node:timers/promises'
import type { Sql } from '#db/sql.ts'
import { selectWords } from '../store/vocabulary.sql.ts'
import { selectChanges, selectIndexItems, selectIndexPage } from './index.sql.ts'
import type { ChangedItems } from './index.sql.ts'
import type { NamespaceIndex } from './namespace-index.ts'

const PAGE = 2_000
/** How long the process may be busy with an index before others get their turn, in milliseconds. */
const SLICE_MS = 8

/**
 * Brings an index to `version` or beyond by reading what changed since its own. Changes are applied in
 * one piece, so a search sees all of a version or nothing of it.
 */
export async function refresh(sql: Sql, index: NamespaceIndex, version: number): Promise<void> {
  if (index.version >= version) return
  if (index.version === 0) return await load(sql, index, version)
  const changes = await selectChanges(sql, index.namespaceId, index.version)
  const [forgotten, changed] = [changes.filter(isWord), changes.filter((one) => !isWord(one))]
  const items = [...new Set(changed.flatMap((change) => change.items.map(Number)))]
  const found = []
  for (let start = 0; start < items.length; start += PAGE) {
    found.push(
      ...(await selectIndexItems(sql, index.namespaceId, items.slice(start, start + PAGE))),
    )
  }
  const words = await selectWords(sql, index.namespaceId, index.version)
  const searchable = new Set(found.map(({ item }) => Number(item)))
  for (const item of items) if (!searchable.has(item)) index.remove(item)
  for (const row of found) index.put(row)
  for (const hash of forgotten.flatMap((change) => change.items)) index.forget(BigInt(hash))
  for (const word of words) index.learn(word)
  index.version = changes.at(-1)?.version ?? version
  await compacted(index)
}

/** Reads a whole namespace. What changes meanwhile is younger than `version` and is read again. */
async function load(sql: Sql, index: NamespaceIndex, version: number): Promise<void> {
  let after = 0
  for (;;) {
    const rows = await selectIndexPage(sql, index.namespaceId, after, PAGE)
    await inSlices(putting(index, rows))
    if (rows.length < PAGE) break
    after = Number(rows.at(-1)?.item ?? 0)
  }
  const words = await selectWords(sql, index.namespaceId, 0)
  index.version = version
  for (const word of words) index.learn(word)
  await compacted(index)
}

/** Words that no item holds any more, by the hashes of their terms. */
function isWord({ kind }: ChangedItems): boolean {
  return kind === 'word'
}

function* putting(index: NamespaceIndex, rows: Parameters<NamespaceIndex['put']>[0][]) {
  for (const row of rows) {
    index.put(row)
    yield
  }
}

async function compacted({ postings }: NamespaceIndex): Promise<void> {
  if (postings.isFragmented) await inSlices(postings.compact())
}

async function inSlices(steps: Iterable<undefined>): Promise<void> {
  let started = performance.now()
  for (const _ of steps) {
    if (performance.now() - started < SLICE_MS) continue
    await setImmediate()
    started = performance.now()
  }
}
