import type { Sql } from '#db/sql.ts'
import type { FactVersion } from '../graph/graph.ts'

/** Facts by their ids. Needs `edges_by_fact`. */
export async function selectFacts(
  sql: Sql,
  namespaceId: string,
  factIds: readonly string[],
): Promise<FactVersion[]> {
  return await sql<FactVersion[]>`
    select ${factColumns(sql)}
    from edges
    where namespace_id = ${namespaceId}
      and fact_id is not null
      and fact_id = any(${[...factIds]}::text[])
      and retired_at is null`
}

function factColumns(sql: Sql) {
  return sql`
    item::float8 as item, fact_id, subject, subject_kind, predicate, object, object_kind, attributes,
    to_char(valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from,
    to_char(valid_to at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_to,
    to_char(observed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as observed_at,
    confidence, observation_ids, supersedes, superseded_by, source_path, origin, scopes, term_count`
}

export interface SuccessorRow {
  supersedes: string
  factId: string
  validFrom: string | null
  observedAt: string
  scopes: string[]
  /** What the successor's writer was allowed; null is everything. */
  writerVisibility: string[] | null
}

/** Facts that name one of these as superseded. Needs `edges_by_supersedes`. */
export async function selectSuccessors(
  sql: Sql,
  namespaceId: string,
  factIds: readonly string[],
): Promise<SuccessorRow[]> {
  return await sql<SuccessorRow[]>`
    select e.supersedes, e.fact_id, e.scopes, o.writer_visibility,
           to_char(e.valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from,
           to_char(e.observed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as observed_at
    from edges as e
    left join observations as o
      on o.namespace_id = e.namespace_id
      and o.observation_id = e.observation_ids[1]
    where e.namespace_id = ${namespaceId}
      and e.supersedes is not null
      and e.supersedes = any(${[...factIds]}::text[])
      and e.retired_at is null`
}

export type IndexedFact = FactVersion & { terms: string; termTfs: string }

export interface SnapshotOrigin {
  snapshotSource: string
  snapshotScope: string
  snapshotId: string
  provenance: unknown
}

export async function insertEdges(
  sql: Sql,
  { id, now }: { id: string; now: string },
  rows: readonly (IndexedFact & Partial<SnapshotOrigin>)[],
): Promise<void> {
  await sql`
    insert into edges
      (namespace_id, item, fact_id, subject, subject_kind, predicate, object, object_kind,
       attributes, valid_from, valid_to, observed_at, ingested_at, closed_at, confidence,
       observation_ids, supersedes, superseded_by, source_path, origin, scopes, snapshot_source,
       snapshot_scope, snapshot_id, provenance, terms, term_tfs, term_count)
    select ${id}, r.item, r."factId", r.subject, r."subjectKind", r.predicate, r.object,
           r."objectKind", r.attributes, r."validFrom", r."validTo", r."observedAt", ${now},
           case when r."validTo" is not null then ${now}::timestamptz end, r.confidence,
           r."observationIds", r.supersedes, r."supersededBy", r."sourcePath", r.origin, r.scopes,
           r."snapshotSource", r."snapshotScope", r."snapshotId", r.provenance, r.terms,
           r."termTfs", r."termCount"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (item bigint, "factId" text, subject text, "subjectKind" text, predicate text,
            object text, "objectKind" text, attributes jsonb, "validFrom" timestamptz,
            "validTo" timestamptz, "observedAt" timestamptz, confidence real,
            "observationIds" text[], supersedes text, "supersededBy" text, "sourcePath" text,
            origin text, scopes text[], "snapshotSource" text, "snapshotScope" text,
            "snapshotId" text, provenance jsonb, terms bigint[], "termTfs" smallint[],
            "termCount" int)`
}

/** Evidence, confidence, audience and end of facts as they are now. */
export async function updateFacts(
  sql: Sql,
  { id, now }: { id: string; now: string },
  rows: readonly FactVersion[],
): Promise<void> {
  await sql`
    update edges
    set observation_ids = r."observationIds",
        confidence = r.confidence,
        scopes = r.scopes,
        observed_at = r."observedAt",
        supersedes = r.supersedes,
        closed_at = case
          when edges.valid_to is distinct from r."validTo" then ${now}::timestamptz
          else edges.closed_at
        end,
        valid_to = r."validTo",
        superseded_by = r."supersededBy"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (item bigint, "observationIds" text[], confidence real, scopes text[],
            "observedAt" timestamptz, supersedes text, "validTo" timestamptz, "supersededBy" text)
    where edges.namespace_id = ${id}
      and edges.item = r.item`
}

/** Open links of a node of one predicate, which are no facts. Needs `edges_by_subject`. */
export async function selectLinks(
  sql: Sql,
  namespaceId: string,
  subject: string,
  predicate: string,
): Promise<{ item: number; object: string }[]> {
  return await sql<{ item: number; object: string }[]>`
    select item::float8 as item, object
    from edges
    where namespace_id = ${namespaceId}
      and subject = ${subject}
      and predicate = ${predicate}
      and fact_id is null
      and valid_to is null
      and retired_at is null
    order by object`
}

/** Ends edges; one that begins later than its end never held. */
export async function closeEdges(
  sql: Sql,
  { id, now }: { id: string; now: string },
  ends: readonly { item: number; at: string; supersededBy?: string | null }[],
): Promise<void> {
  await sql`
    update edges
    set valid_to = greatest(edges.starts_at, r.at), closed_at = ${now},
        superseded_by = r."supersededBy"
    from json_to_recordset(${JSON.stringify(ends)}::text::json)
      as r (item bigint, at timestamptz, "supersededBy" text)
    where edges.namespace_id = ${id}
      and edges.item = r.item`
}

/** Facts and links that are open and have this node as an end. */
export async function selectOpenEdges(
  sql: Sql,
  namespaceId: string,
  key: string,
): Promise<{ item: number; scopes: string[]; termCount: number }[]> {
  return await sql<{ item: number; scopes: string[]; termCount: number }[]>`
    select item::float8 as item, scopes, term_count
    from edges
    where namespace_id = ${namespaceId}
      and (subject = ${key} or object = ${key})
      and valid_to is null
      and retired_at is null`
}
