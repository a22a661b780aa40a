import type { Sql } from '#db/sql.ts'
import type { Reader } from '../recall/reader.ts'
import { readable } from '../recall/reader.sql.ts'
import { satisfying } from '../where.sql.ts'
import type { Test } from '../where.ts'

export interface EntityRow {
  namespaceId: string
  item: number
  kind: string
  key: string
  title: string
  properties: Record<string, unknown>
  aliases: string[]
  sourcePath: string | null
  provenance: Record<string, unknown> | null
  validFrom: string
  validTo: string | null
}

export interface EntityQuery {
  namespaceIds: readonly string[]
  kinds: readonly string[]
  tests: readonly Test[]
  reader: Reader
  /** The last entity of the page before. */
  after: { namespaceId: string; item: number } | undefined
  limit: number
}

/** Entities in the order of kind, key and namespace. Needs `nodes_by_kind`. */
export async function selectEntities(sql: Sql, query: EntityQuery): Promise<EntityRow[]> {
  const { namespaceIds, kinds, tests, reader, after, limit } = query
  const start = after
    ? sql`and (kind, key, namespace_id) > (
        select kind, key, namespace_id
        from nodes
        where namespace_id = ${after.namespaceId}
          and item = ${after.item})`
    : sql``
  return await sql<EntityRow[]>`
    select namespace_id, item::float8 as item, kind, key, title, properties, aliases, source_path,
           provenance,
           to_char(valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from,
           to_char(valid_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_to
    from nodes
    where namespace_id = any(${[...namespaceIds]}::bigint[])
      and kind = any(${[...kinds]}::text[])
      and not placeholder
      and ${readable(sql, reader, 'valid_from')}
      and ${satisfying(sql, tests)}
      ${start}
    order by kind, key, namespace_id
    limit ${limit}`
}

/** Whether a row that a cursor names is there. */
export async function selectHasItem(
  sql: Sql,
  { namespaceId, item }: { namespaceId: string; item: number },
): Promise<boolean> {
  const rows = await sql`
    select 1
    from nodes
    where namespace_id = ${namespaceId}
      and item = ${item}`
  return rows.length > 0
}
