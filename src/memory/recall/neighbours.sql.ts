import type { Sql } from '#db/sql.ts'
import type { MatchQuery, MatchRow } from './lexical.sql.ts'
import { readable } from './reader.sql.ts'

export interface NeighbourRow extends MatchRow {
  /** The item it stands beside. */
  beside: string
  /** -2, -1, 1 or 2 places after that item. */
  places: number
}

/**
 * Up to two readable observations on each side of each of the given ones, in the same session by time
 * and arrival. Needs `observations_by_session`.
 */
export async function selectSessionNeighbours(
  sql: Sql,
  query: MatchQuery,
  items: readonly string[],
): Promise<NeighbourRow[]> {
  const { namespaceId, reader } = query
  const side = (later: boolean) => sql`
    select item, session_key, actor_id, occurred_at, term_count, terms, term_tfs,
           ${later ? sql`` : sql`-`} row_number() over (
             order by occurred_at ${direction(sql, later)}, item ${direction(sql, later)}
           ) as places
    from observations
    where namespace_id = ${namespaceId}
      and session_key = hit.session_key
      and (occurred_at, item) ${later ? sql`>` : sql`<`} (hit.occurred_at, hit.item)
      and status <> 'redacted'
      and ${readable(sql, reader, 'occurred_at')}
    order by occurred_at ${direction(sql, later)}, item ${direction(sql, later)}
    limit 2`
  return await sql<NeighbourRow[]>`
    select hit.item as beside, near.places::int as places, near.item,
           'observation' as kind, near.session_key as grp, near.actor_id as author, near.occurred_at as starts_at,
           'short' as shape, near.term_count as words,
           ${frequencies(sql, query.hashes)} as tfs
    from observations as hit
    cross join lateral ((${side(false)}) union all (${side(true)})) as near
    where hit.namespace_id = ${namespaceId}
      and hit.item = any(${[...items]}::bigint[])
      and hit.session_key is not null`
}

/** The readable chunks next to the given ones in the same document. Needs `chunks_by_node`. */
export async function selectChunkNeighbours(
  sql: Sql,
  query: MatchQuery,
  items: readonly string[],
): Promise<NeighbourRow[]> {
  const { namespaceId, reader } = query
  return await sql<NeighbourRow[]>`
    select hit.item as beside, near.chunk_order - hit.chunk_order as places, near.item,
           'chunk' as kind, near.node_key as grp,
           null as author, near.valid_from as starts_at,
           case near.doc_type when 'code' then 'code' else 'document' end as shape,
           near.term_count as words, ${frequencies(sql, query.hashes)} as tfs
    from chunks as hit
    cross join lateral (
      select item, node_key, chunk_order, doc_type, valid_from, term_count, terms, term_tfs
      from chunks
      where namespace_id = ${namespaceId}
        and node_key = hit.node_key
        and chunk_order between hit.chunk_order - 2 and hit.chunk_order + 2
        and chunk_order <> hit.chunk_order
        and ${readable(sql, reader, 'valid_from')}
    ) as near
    where hit.namespace_id = ${namespaceId}
      and hit.item = any(${[...items]}::bigint[])`
}

function direction(sql: Sql, later: boolean) {
  return later ? sql`asc` : sql`desc`
}

function frequencies(sql: Sql, hashes: readonly bigint[]) {
  return sql`
    array(
      select coalesce(near.term_tfs[array_position(near.terms, hash)], 0)
      from unnest(${hashes.map(String)}::bigint[]) as hash
    )`
}
