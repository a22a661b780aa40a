import type { Sql } from '#db/sql.ts'
import type { NodeVersion } from '../graph/graph.ts'

/**
 * The versions of keys that hold at or after a moment and that no correction has replaced.
 * Needs `nodes_by_key`.
 */
export async function selectVersions(
  sql: Sql,
  namespaceId: string,
  keys: readonly string[],
  since: string,
): Promise<NodeVersion[]> {
  return await sql<NodeVersion[]>`
    select item::float8 as item, key, kind, title, properties, aliases, source_path, observation_id,
           provenance, confidence, origin, placeholder, scopes, said, term_count,
           to_char(valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from,
           to_char(valid_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_to,
           to_char(last_seen at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as last_seen
    from nodes
    where namespace_id = ${namespaceId}
      and key = any(${[...keys]}::text[])
      and retired_at is null
      and (valid_to is null or valid_to > ${since})`
}

export type IndexedNode = NodeVersion & { terms: string; termTfs: string }

export async function insertNodes(
  sql: Sql,
  { id, now }: { id: string; now: string },
  rows: readonly IndexedNode[],
): Promise<void> {
  await sql`
    insert into nodes
      (namespace_id, item, key, kind, title, properties, aliases, source_path, observation_id,
       provenance, confidence, origin, placeholder, scopes, valid_from, valid_to, ingested_at,
       closed_at, last_seen, said, terms, term_tfs, term_count)
    select ${id}, r.item, r.key, r.kind, r.title, r.properties, r.aliases, r."sourcePath",
           r."observationId", r.provenance, r.confidence, r.origin, r.placeholder, r.scopes,
           r."validFrom", r."validTo", ${now},
           case when r."validTo" is not null then ${now}::timestamptz end,
           r."lastSeen", r.said, r.terms, r."termTfs", r."termCount"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (item bigint, key text, kind text, title text, properties jsonb, aliases text[],
            "sourcePath" text, "observationId" text, provenance jsonb, confidence real, origin text,
            placeholder boolean, scopes text[], "validFrom" timestamptz, "validTo" timestamptz,
            "lastSeen" timestamptz, said jsonb, terms bigint[], "termTfs" smallint[], "termCount" int)`
}

export interface NodeFate {
  item: number
  fate: 'changed' | 'closed' | 'retired'
  validTo: string | null
  lastSeen: string
  said: unknown
}

/** Closed versions get their end, replaced ones the moment of the correction, all the last sight. */
export async function updateNodes(
  sql: Sql,
  { id, now }: { id: string; now: string },
  fates: readonly NodeFate[],
): Promise<void> {
  await sql`
    update nodes
    set valid_to = case when r.fate = 'closed' then r."validTo" else nodes.valid_to end,
        closed_at = case when r.fate = 'closed' then ${now}::timestamptz else nodes.closed_at end,
        retired_at = case when r.fate = 'retired' then ${now}::timestamptz end,
        last_seen = r."lastSeen",
        said = r.said
    from json_to_recordset(${JSON.stringify(fates)}::text::json)
      as r (item bigint, fate text, "validTo" timestamptz, "lastSeen" timestamptz, said jsonb)
    where nodes.namespace_id = ${id}
      and nodes.item = r.item`
}
