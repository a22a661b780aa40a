import { randomUUID } from 'node:crypto'
import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import type { Embedder } from '#model/embedder.ts'
import { loadItems } from '../recall/load-items.ts'
import { EVERYTHING } from '../visibility.ts'
import { packed } from './packed.ts'
import { leaseNamespace, noteProgress, postpone } from './progress.sql.ts'
import type { Due, Progress } from './progress.sql.ts'
import { embeddedText } from './embedded-text.ts'
import {
  deleteOtherModels,
  deleteVectors,
  selectChangePage,
  selectSearchable,
  selectSearchablePage,
  upsertVectors,
} from './vector.sql.ts'
import type { NewVector, Searchable } from './vector.sql.ts'

/** Texts in one request to a model. */
const BATCH = 64
/** Rows of the change log read for one of them. */
const CHANGES = 64
/** A process that died holds a namespace no longer than this; the limit of a request is below it. */
const LEASE_SECONDS = 120
const RETRY_SECONDS = 30

/** What one step is about, and how far it brings the namespace. */
interface Step extends Progress {
  items: Searchable[]
  gone: string[]
}

const WRITER = {
  audience: EVERYTHING,
  asOf: null,
  knownAt: null,
  relevance: { filter: 'none' },
} as const

/**
 * Embeds the next batch of what has no vector of this model yet, of the namespace that has waited longest:
 * first all there is, then what changed. False when nothing is left. The model is asked outside of
 * transactions; vectors and progress are written in one, so a process that dies loses its last batch and
 * nothing else. Throws what the model throws; the namespace then waits half a minute.
 */
export async function embedNext(
  db: Database,
  embedder: Embedder,
  signal: AbortSignal,
): Promise<boolean> {
  const lease = { id: randomUUID(), seconds: LEASE_SECONDS }
  const due = await leaseNamespace(db, embedder.model, lease)
  if (due === undefined) return false
  try {
    const step = await nextStep(db, due)
    const vectors = await vectorsOf(db, due, { items: step.items, embedder, signal })
    await write(db, due, { step, vectors, model: embedder.model })
  } catch (error) {
    await postpone(db, due, signal.aborted ? 0 : RETRY_SECONDS)
    throw error
  }
  return true
}

async function nextStep(sql: Sql, due: Due): Promise<Step> {
  const { namespaceId, version, reading, afterItem } = due
  if (reading) {
    const items = await selectSearchablePage(sql, namespaceId, afterItem, BATCH)
    const last = Number(items.at(-1)?.item ?? 0)
    return items.length < BATCH
      ? { items, gone: [], reading: false, version, afterItem: 0 }
      : { items, gone: [], reading, version, afterItem: last }
  }
  const { changed, ...progress } = nextChanges(
    due,
    await selectChangePage(sql, namespaceId, version, CHANGES),
  )
  const items = await selectSearchable(sql, namespaceId, changed)
  const found = new Set(items.map(({ item }) => item))
  return { items, gone: changed.filter((item) => !found.has(item)), ...progress }
}

/** Items of the next versions, as many as one request takes: whole versions, or a part of a large one. */
function nextChanges(
  { version, afterItem, newest }: Due,
  page: readonly { version: number; items: string[] }[],
): Progress & { changed: string[] } {
  const [first, ...others] = versionsIn(page)
  // The log keeps the newest changes only: whoever missed some reads everything again.
  if (first?.version !== version + 1) {
    return { changed: [], reading: version < newest, version: newest, afterItem: 0 }
  }
  const left = [...first.items].filter((item) => item > afterItem).toSorted((a, b) => a - b)
  if (left.length > BATCH) {
    const part = left.slice(0, BATCH)
    const afterPart = part.at(-1) ?? 0
    return { changed: part.map(String), reading: false, version, afterItem: afterPart }
  }
  const changed = new Set(left)
  let reached = first.version
  for (const { version: next, items } of others) {
    if (changed.size + items.size > BATCH) break
    for (const item of items) changed.add(item)
    reached = next
  }
  return { changed: Array.from(changed, String), reading: false, version: reached, afterItem: 0 }
}

/** The versions of a page with their items; the last one of a full page may go on, so it is left. */
function versionsIn(page: readonly { version: number; items: string[] }[]) {
  const versions = Array.from(
    Map.groupBy(page, (change) => change.version),
    ([version, changes]) => ({
      version,
      items: new Set(changes.flatMap(({ items }) => items.map(Number))),
    }),
  )
  return page.length < CHANGES ? versions : versions.slice(0, -1)
}

async function vectorsOf(
  sql: Sql,
  { namespaceId }: Due,
  { items, embedder, signal }: { items: Searchable[]; embedder: Embedder; signal: AbortSignal },
): Promise<NewVector[]> {
  const namespace = { id: namespaceId, namespace: '', version: 0, now: 0, sizes: [] }
  const loaded = await loadItems(
    sql,
    WRITER,
    items.map(({ item, kind }) => ({ namespace, item, kind })),
  )
  const texts = items.flatMap(({ item }) => {
    const text = embeddedText(loaded.get(`${namespaceId}:${item}`))
    return text === '' ? [] : [{ item, text }]
  })
  const vectors: NewVector[] = []
  for (let start = 0; start < texts.length; start += BATCH) {
    const slice = texts.slice(start, start + BATCH)
    const embedded = await embedder.embed(
      slice.map(({ text }) => text),
      signal,
    )
    for (const [place, { item }] of slice.entries()) {
      const vector = embedded[place]
      if (vector !== undefined) vectors.push({ item, packed: packed(vector) })
    }
  }
  return vectors
}

async function write(
  db: Database,
  due: Due,
  { step, vectors, model }: { step: Step; vectors: NewVector[]; model: string },
): Promise<void> {
  const { namespaceId } = due
  await transaction(db, 'read write', async (sql) => {
    const seq = await noteProgress(sql, due, step)
    if (seq === undefined) return
    if (vectors.length > 0) await upsertVectors(sql, { namespaceId, model, seq }, vectors)
    if (step.gone.length > 0) await deleteVectors(sql, namespaceId, step.gone)
    if (due.reading && !step.reading) await deleteOtherModels(sql, namespaceId, model)
  })
}
