import type { Sql } from '#db/sql.ts'
import type { Item } from './item.ts'
import { selectListed } from './listed.sql.ts'
import type { NamespaceRow } from './lexical.sql.ts'
import { loadItems } from './load-items.ts'
import type { Reader } from './reader.ts'

export interface Listing {
  namespaces: readonly NamespaceRow[]
  reader: Reader
  type: string
  meta: Readonly<Record<string, unknown>> | undefined
  limit: number
}

/** The entities and documents of a type, by key, as the reader may see them at the moment asked about. */
export async function listed(sql: Sql, { namespaces, ...listing }: Listing): Promise<Item[]> {
  const spaces = new Map(namespaces.map((namespace) => [namespace.id, namespace]))
  const rows = await selectListed(sql, { ...listing, namespaceIds: [...spaces.keys()] })
  const references = rows.flatMap(({ namespaceId, item }) => {
    const namespace = spaces.get(namespaceId)
    return namespace ? [{ namespace, item, kind: 'entity' as const }] : []
  })
  const items = await loadItems(sql, listing.reader, references)
  return rows.flatMap(({ namespaceId, item }) => items.get(`${namespaceId}:${item}`) ?? [])
}
