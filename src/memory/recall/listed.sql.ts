import type { Sql } from '#db/sql.ts'
import type { Listing } from './listed.ts'
import { readable } from './reader.sql.ts'

export interface ListedRow {
  namespaceId: string
  item: string
}

/** Entities of a type in the order of their keys. Needs `nodes_by_kind`. */
export async function selectListed(
  sql: Sql,
  listing: Omit<Listing, 'namespaces'> & { namespaceIds: readonly string[] },
): Promise<ListedRow[]> {
  const { namespaceIds, reader, type, meta, limit } = listing
  return await sql<ListedRow[]>`
    select namespace_id, item
    from nodes
    where namespace_id = any(${[...namespaceIds]}::bigint[])
      and kind = ${type}
      and not placeholder
      ${meta === undefined ? sql`` : sql`and properties -> 'meta' @> ${JSON.stringify(meta)}::text::jsonb`}
      and ${readable(sql, reader, 'valid_from')}
    order by key, namespace_id, item
    limit ${limit}`
}
