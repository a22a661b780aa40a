import type { DIRECTIONS } from '#contract/memory-graph.ts'
import type { Sql } from '#db/sql.ts'
import { readable } from '../recall/reader.sql.ts'
import type { Reader } from '../recall/reader.ts'

export interface NodeRow {
  item: string
  key: string
  kind: string
  title: string
  properties: Record<string, unknown>
  aliases: string[]
  sourcePath: string | null
  confidence: number | null
  placeholder: boolean
  validFrom: Date
  validTo: Date | null
}

/** Nodes of these keys, placeholders included. Needs `nodes_by_key`. */
export async function selectNodesByKey(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  keys: readonly string[],
): Promise<NodeRow[]> {
  return await sql<NodeRow[]>`
    select item, key, kind, title, properties, aliases, source_path, confidence, placeholder,
           valid_from, ${knownEnd(sql, reader)}
    from nodes
    where namespace_id = ${namespaceId}
      and key = any(${[...keys]}::text[])
      and ${readable(sql, reader, 'valid_from')}
    order by key, placeholder, kind, item`
}

/** Which of these keys have a node that the reader sees. Needs `nodes_by_key`. */
export async function selectSeenKeys(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  keys: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select distinct key
    from nodes
    where namespace_id = ${namespaceId}
      and key = any(${[...keys]}::text[])
      and ${readable(sql, reader, 'valid_from')}`
  return rows.map(({ key }) => key)
}

export interface EdgeRow {
  item: string
  factId: string | null
  subject: string
  predicate: string
  object: string
  attributes: Record<string, unknown>
  evidence: string
  confidence: number
  sourcePath: string | null
  validFrom: Date | null
  validTo: Date | null
}

export interface EdgeWish {
  keys: readonly string[]
  direction: (typeof DIRECTIONS)[number]
  predicates?: readonly string[] | undefined
  limit: number
}

/**
 * Edges at any of the keys whose other end is a node that the reader sees, the best supported and newest
 * first. Needs `edges_by_subject`, `edges_by_object` and `nodes_by_key`.
 */
export async function selectEdges(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  { keys, direction, predicates, limit }: EdgeWish,
): Promise<EdgeRow[]> {
  const at = (end: 'subject' | 'object', other: 'subject' | 'object', isAsked: boolean) => sql`
    select item, fact_id, subject, predicate, object, attributes, evidence, confidence, source_path,
           valid_from, ${knownEnd(sql, reader)}, observed_at
    from edges
    where namespace_id = ${namespaceId}
      and ${isAsked}
      and ${sql(end)} = any(${[...keys]}::text[])
      and (${predicates ? [...predicates] : null}::text[] is null or predicate = any(${[...(predicates ?? [])]}::text[]))
      and not evidence_lost
      and ${readable(sql, reader)}
      and exists (
        select 1
        from nodes
        where nodes.namespace_id = ${namespaceId}
          and nodes.key = edges.${sql(other)}
          -- Here the columns are those of the node.
          and ${readable(sql, reader, 'valid_from')}
      )`
  return await sql<EdgeRow[]>`
    select item, fact_id, subject, predicate, object, attributes, evidence, confidence, source_path,
           valid_from, valid_to
    from (
      ${at('subject', 'object', direction !== 'in')}
      union
      ${at('object', 'subject', direction !== 'out')}
    ) as edge /* of one namespace */
    order by array_position(array['asserted', 'extracted', 'inferred', 'derived'], evidence),
             observed_at desc, item desc
    limit ${limit}`
}

/** When something ended, or null if that was not known yet at the moment of knowledge asked about. */
function knownEnd(sql: Sql, { knownAt }: Reader) {
  if (knownAt === null) return sql`valid_to`
  return sql`
    case when closed_at > ${knownAt}::text::timestamptz then null else valid_to end as valid_to`
}
