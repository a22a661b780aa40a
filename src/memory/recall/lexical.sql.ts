import type { Sql } from '#db/sql.ts'
import type { Reader } from './reader.ts'
import { begunAt, readable, visibleTo } from './reader.sql.ts'
import type { ItemKind } from './item.ts'

export interface NamespaceRow {
  /** Salt of term hashes and first part of every key. */
  id: string
  namespace: string
  /** Grows with every write. */
  version: number
  /** The database's clock, in microseconds since 1970. */
  now: number
  /** Size of each kind of item: what rarity and average lengths are computed from. */
  sizes: CorpusSize[]
}

export interface CorpusSize {
  kind: 'observation' | 'chunk' | 'node' | 'edge'
  items: number
  words: number
}

/** Those of the names that exist; a namespace nobody wrote to has nothing to find. */
export async function selectNamespaces(
  sql: Sql,
  names: readonly string[],
): Promise<NamespaceRow[]> {
  return await sql<NamespaceRow[]>`
    select id, namespace, version::float8 as version,
           (extract(epoch from statement_timestamp()) * 1000000)::float8 as now, (
      select coalesce(json_agg(json_build_object('kind', kind, 'items', items, 'words', words)), '[]')
      from namespace_stats
      where namespace_id = namespaces.id
    ) as sizes
    from namespaces
    where namespace = any(${[...names]}::text[])
    order by namespace`
}

/**
 * How many items hold each term, in the order given, counted up to `cap`. Needs the `_terms` indexes: the
 * hashes select, the namespace (here and below `+ 0`, so that no index on it is tried) is checked.
 */
export async function selectFrequencies(
  sql: Sql,
  namespaceId: string,
  hashes: readonly bigint[],
  cap: number,
): Promise<number[]> {
  const rows = await sql<{ items: number }[]>`
    select (
      select count(*)::int
      from (
        select 1
        from searchable
        where namespace_id + 0 = ${namespaceId} and terms @> array[term.hash]
        limit ${cap}
      ) as counted
    ) as items
    from unnest(${hashes.map(String)}::bigint[]) with ordinality as term (hash, place)
    order by term.place`
  return rows.map(({ items }) => items)
}

export interface MatchRow {
  item: string
  kind: ItemKind
  grp: string | null
  author: string | null
  startsAt: Date
  shape: 'short' | 'document' | 'code'
  words: number
  /** Stored frequencies of the terms asked for, in their order; 0 where the item lacks one. */
  tfs: number[]
}

/** What a search by words asks of one namespace. */
export interface MatchQuery {
  namespaceId: string
  reader: Reader
  kinds: readonly ItemKind[]
  /** Every term, to be scored. */
  hashes: readonly bigint[]
  texts?: TextFilter | undefined
}

/** Keeps to chunks of documents of a type, or whose `meta` contains something. */
export interface TextFilter {
  type?: string | undefined
  meta?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Items that hold at least one of the terms in `rare`, with the frequencies of all. What another item
 * replaced is included, so that the answer can say so. Any of them up to a limit, which stops early, or
 * the newest, which reads all. Needs the `_terms` indexes.
 */
export async function selectMatches(
  sql: Sql,
  query: MatchQuery,
  rare: readonly bigint[],
  limit: { newest: number } | { any: number },
): Promise<MatchRow[]> {
  const { namespaceId, reader, kinds } = query
  const some =
    'any' in limit
      ? sql`limit ${limit.any}`
      : sql`order by starts_at desc, item desc limit ${limit.newest}`
  return await sql<MatchRow[]>`
    select item, kind, grp, author, starts_at, shape, term_count as words,
           ${frequencies(sql, query.hashes)} as tfs
    from searchable
    where namespace_id + 0 = ${namespaceId}
      and terms && ${rare.map(String)}::bigint[]
      and kind = any(${[...kinds]}::text[])
      and (${readable(sql, reader)} or (
        superseded_by is not null
        and ${visibleTo(sql, reader.audience)}
        and ${begunAt(sql, reader)}
      ))
      and ${ofTexts(sql, query)}
    ${some}`
}

/** Needs `chunks_meta`. */
function ofTexts(sql: Sql, { namespaceId, texts }: MatchQuery) {
  if (texts === undefined) return sql`true`
  const { type, meta } = texts
  return sql`
    item in (
      select item
      from chunks
      where namespace_id = ${namespaceId}
        ${type === undefined ? sql`` : sql`and doc_type = ${type}`}
        ${meta === undefined ? sql`` : sql`and meta <> '{}' and meta @> ${JSON.stringify(meta)}::text::jsonb`}
    )`
}

/** How items are shown (`obs-…`, `chunk:<n>`, `fact-…`, `node:<key>`), by their numbers. */
export async function selectIds(
  sql: Sql,
  namespaceId: string,
  items: readonly string[],
): Promise<{ item: string; id: string }[]> {
  return await sql<{ item: string; id: string }[]>`
    select item, id
    from searchable
    where namespace_id = ${namespaceId}
      and item = any(${[...items]}::bigint[])`
}

/** Items that began within a span of time, for questions that name a date. */
export async function selectDated(
  sql: Sql,
  query: MatchQuery,
  span: { from: Date; to: Date },
  limit: number,
): Promise<MatchRow[]> {
  const { namespaceId, reader } = query
  return await sql<MatchRow[]>`
    select item, 'observation' as kind, session_key as grp, actor_id as author,
           occurred_at as starts_at, 'short' as shape, term_count as words,
           ${frequencies(sql, query.hashes)} as tfs
    from observations
    where namespace_id = ${namespaceId}
      and occurred_at >= ${span.from}
      and occurred_at < ${span.to}
      and status <> 'redacted'
      and ${readable(sql, reader, 'occurred_at')}
    order by occurred_at
    limit ${limit}`
}

function frequencies(sql: Sql, hashes: readonly bigint[]) {
  return sql`
    array(
      select coalesce(term_tfs[array_position(terms, hash)], 0)
      from unnest(${hashes.map(String)}::bigint[]) as hash
    )`
}
