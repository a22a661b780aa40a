import type { Sql } from '#db/sql.ts'
import type { Reader } from './reader.ts'
import { readable } from './reader.sql.ts'

export interface EdgeRow {
  item: string
  factId: string | null
  subject: string
  object: string
  confidence: number
}

/**
 * Edges at any of the keys, in both directions, the best supported and newest first. Needs
 * `edges_by_subject` and `edges_by_object`.
 */
export async function selectEdgesAt(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  ask: { keys: readonly string[]; limit: number },
): Promise<EdgeRow[]> {
  const at = (end: 'subject' | 'object') => sql`
    select item, fact_id, subject, object, confidence, evidence, observed_at
    from edges
    where namespace_id = ${namespaceId}
      and ${sql(end)} = any(${[...ask.keys]}::text[])
      and not evidence_lost
      and ${readable(sql, reader)}`
  return await sql<EdgeRow[]>`
    select item, fact_id, subject, object, confidence
    from (
      ${at('subject')}
      union
      ${at('object')}
    ) as edge /* of one namespace */
    order by array_position(array['asserted', 'extracted', 'inferred', 'derived'], evidence),
             observed_at desc, item desc
    limit ${ask.limit}`
}

/** Entities by their keys; placeholders have nothing to say. Needs `nodes_by_key`. */
export async function selectNodeItems(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  keys: readonly string[],
): Promise<{ item: string; key: string }[]> {
  return await sql<{ item: string; key: string }[]>`
    select item, key
    from nodes
    where namespace_id = ${namespaceId}
      and key = any(${[...keys]}::text[])
      and not placeholder
      and ${readable(sql, reader, 'valid_from')}`
}
