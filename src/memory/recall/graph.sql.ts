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

/**
 * The newest observations: half of them stated by somebody, half lifecycle events, so that a busy task
 * does not hide what was decided. Needs `observations_stated` and `observations_lifecycle`.
 */
export async function selectRecent(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  limit: number,
): Promise<{ item: string; occurredAt: Date }[]> {
  const newest = (lifecycle: boolean) => sql`
    select item, occurred_at, ingested_at
    from observations
    where namespace_id = ${namespaceId}
      and kind ${lifecycle ? sql`~` : sql`!~`} '^(task|run|claim|session)[.]'
      and content <> ''
      and status <> 'redacted'
      and ${readable(sql, reader, 'occurred_at')}
    order by occurred_at desc, ingested_at desc
    limit ${limit}`
  return await sql<{ item: string; occurredAt: Date }[]>`
    select item, occurred_at
    from ((${newest(false)}) union all (${newest(true)})) as recent /* of one namespace */
    order by occurred_at desc, ingested_at desc`
}
