import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import {
  deleteOldChanges,
  insertChanges,
  insertNamespace,
  lockNamespace,
  selectNamespaceId,
  updateNamespace,
} from './namespace.sql.ts'
import type { KindChange, NamespaceRow, StoredKind } from './namespace.sql.ts'
import { slices } from './slices.ts'
import { insertWords } from './vocabulary.sql.ts'

/** The namespace as its one writer sees it: a new version in the making. */
export interface Namespace {
  readonly name: string
  readonly id: string
  /** Number of the version that this write makes. */
  readonly version: number
  /** Record time of everything this write stores, six digits of a second. */
  readonly now: string
  /** The number of a new item. */
  readonly nextItem: () => number
  /** Notes a change for the log. `items` and `words` say how the open items grew. */
  readonly changed: (kind: StoredKind, item: number, items: -1 | 0 | 1, words: number) => void
  /** Notes words that what is written holds. */
  readonly learn: (words: Iterable<string>) => void
  /** Makes a version even when no item changed: something else refers to its number. */
  readonly touch: () => void
}

/** What the log of changes keeps, in changes and the items that they name, and every how many versions. */
export const KEPT_CHANGES = 100_000
export const SHORTENED_EVERY = 256

/** The number of a namespace, which is made at its first write. */
export async function namespaceId(db: Database, name: string): Promise<string> {
  const known = await selectNamespaceId(db, name)
  if (known !== undefined) return known
  await insertNamespace(db, name)
  return (await selectNamespaceId(db, name)) ?? namespaceId(db, name)
}

/**
 * Runs a write as the only writer of its namespace, in one transaction. When it changed items, the
 * namespace gets its next version and the change log a row for each kind; otherwise nothing moves.
 */
export async function writeNamespace<T>(
  db: Database,
  name: string,
  work: (sql: Sql, namespace: Namespace) => Promise<T>,
): Promise<T> {
  await namespaceId(db, name)
  return await transaction(db, 'read write', async (sql) => {
    const row = await lockNamespace(sql, name)
    const { namespace, changes, learnt, lastItem } = tracked(name, row)
    const result = await work(sql, namespace)
    if (changes.size > 0) {
      const { id, version } = namespace
      await updateNamespace(sql, { id, version, lastItem: lastItem() })
      await insertChanges(sql, namespace, [...changes.values()])
      for (const slice of slices([...learnt])) await insertWords(sql, namespace, slice)
      if (version % SHORTENED_EVERY === 0)
        await deleteOldChanges(sql, id, { version, keep: KEPT_CHANGES })
    }
    return result
  })
}

function tracked(name: string, row: NamespaceRow) {
  let { lastItem } = row
  const changes = new Map<StoredKind, KindChange>()
  const learnt = new Set<string>()
  const changeOf = (kind: StoredKind) => {
    const change = changes.get(kind) ?? { kind, items: [], itemsDelta: 0, wordsDelta: 0 }
    changes.set(kind, change)
    return change
  }
  const namespace: Namespace = {
    name,
    id: row.id,
    version: row.version + 1,
    now: row.now,
    nextItem: () => (lastItem += 1),
    changed: (kind, item, items, words) => {
      const change = changeOf(kind)
      change.items.push(item)
      change.itemsDelta += items
      change.wordsDelta += words
    },
    learn: (words) => {
      for (const word of words) learnt.add(word)
    },
    touch: () => void changeOf('node'),
  }
  return { namespace, changes, learnt, lastItem: () => lastItem }
}
