import type { Sql } from '#db/sql.ts'
import { chunkItem, entityItem, factItem, observationItem } from './item-of.ts'
import { selectChunks, selectFacts, selectNodes, selectObservations } from './items.sql.ts'
import type { Pick } from './items.sql.ts'
import type { Item, ItemKind } from './item.ts'
import type { NamespaceRow } from './lexical.sql.ts'
import type { Reader } from './reader.ts'

/** An item's number with its kind: where to read it. */
export interface Reference {
  namespace: NamespaceRow
  item: string
  kind: ItemKind
}

/**
 * Reads items by their numbers, one query per kind and namespace, by their keys; what the reader may not
 * see is missing.
 */
export async function loadItems(
  sql: Sql,
  reader: Reader,
  references: readonly Reference[],
): Promise<Map<string, Item>> {
  const groups = Map.groupBy(references, ({ namespace, kind }) => `${namespace.id} ${kind}`)
  const loaded = await Promise.all(
    [...groups.values()].map((group) => loadGroup(sql, reader, group)),
  )
  return new Map(loaded.flat().map((item) => [item.key, item]))
}

async function loadGroup(sql: Sql, reader: Reader, group: readonly Reference[]): Promise<Item[]> {
  const [first] = group
  if (first === undefined) return []
  const { namespace, kind } = first
  const pick = {
    namespaceId: namespace.id,
    reader,
    items: [...new Set(group.map(({ item }) => item))],
  }
  return await LOADERS[kind](sql, namespace, pick)
}

type Loader = (sql: Sql, namespace: NamespaceRow, pick: Pick) => Promise<Item[]>

const LOADERS: Readonly<Record<ItemKind, Loader>> = {
  observation: async (sql, namespace, pick) =>
    (await selectObservations(sql, pick)).map((row) => observationItem(namespace, row)),
  chunk: async (sql, namespace, pick) =>
    (await selectChunks(sql, pick)).map((row) => chunkItem(namespace, row)),
  entity: async (sql, namespace, pick) =>
    (await selectNodes(sql, pick)).map((row) => entityItem(namespace, row)),
  fact: async (sql, namespace, pick) =>
    (await selectFacts(sql, pick)).map((row) => factItem(namespace, row)),
}
