import type { Sql } from '#db/sql.ts'
import type { IndexRow } from './namespace-index.ts'

/** The searchable items of a namespace with a number above `after`, in order of their numbers. */
export async function selectIndexPage(
  sql: Sql,
  namespaceId: string,
  after: number,
  limit: number,
): Promise<IndexRow[]> {
  return await sql<IndexRow[]>`
    select ${indexed(sql)}
    from searchable
    where namespace_id = ${namespaceId} and item > ${after}
    order by item
    limit ${limit}`
}

/** Those of the given items that are searchable now. */
export async function selectIndexItems(
  sql: Sql,
  namespaceId: string,
  items: readonly number[],
): Promise<IndexRow[]> {
  return await sql<IndexRow[]>`
    select ${indexed(sql)}
    from searchable
    where namespace_id = ${namespaceId} and item = any(${items.map(String)}::bigint[])
    order by item`
}

function indexed(sql: Sql) {
  return sql`
    item, kind, shape, grp, author, place, term_count as words, scopes, audience,
    ${micros(sql, 'starts_at')}, ${micros(sql, 'valid_to')}, ${micros(sql, 'ingested_at')},
    ${micros(sql, 'closed_at')}, ${micros(sql, 'retired_at')}, superseded_by is not null as replaced,
    array_send(terms) as terms, array_send(term_tfs) as tfs`
}

/** Exact: a double holds every microsecond of the years that we keep. */
function micros(sql: Sql, column: string) {
  return sql`(extract(epoch from ${sql(column)}) * 1000000)::float8 as ${sql(column)}`
}

export interface ChangedItems {
  version: number
  kind: string
  /** When the version was made, to the microsecond. */
  writtenAt: string
  items: string[]
}

/** A version and what changed after it, oldest first; a version of several kinds is several rows. */
export async function selectChanges(
  sql: Sql,
  namespaceId: string,
  from: number,
): Promise<ChangedItems[]> {
  return await sql<ChangedItems[]>`
    select version::float8 as version, kind, items, written_at::text as written_at
    from changes
    where namespace_id = ${namespaceId} and version >= ${from}
    order by version`
}

/** When a version was made; empty for one that the log does not hold. */
export async function selectWrittenAt(
  sql: Sql,
  namespaceId: string,
  version: number,
): Promise<string> {
  const [row] = await sql<{ writtenAt: string }[]>`
    select written_at::text as written_at
    from changes
    where namespace_id = ${namespaceId} and version = ${version}
    limit 1`
  return row?.writtenAt ?? ''
}
