import type { Recorded } from '#contract/memory.ts'
import type { Sql } from '#db/sql.ts'

export interface ObservationRow {
  item: number
  observationId: string
  sourceSystem: string | null
  sourceStream: string | null
  externalId: string | null
  kind: string
  occurredAt: string
  validTo: string | null
  supersedes: string | null
  supersededBy: string | null
  actorType: string | null
  actorId: string | null
  subjectType: string | null
  subjectId: string | null
  scopes: string[]
  sessionKey: string | null
  title: string | null
  content: string | null
  data: unknown
  assertions: unknown
  provenance: unknown
  contentHash: string
  status: Recorded['status']
  statusDetail: string | null
  writerVisibility: readonly string[] | null
}

export interface KnownObservation {
  observationId: string
  status: Recorded['status']
  scopes: string[]
}

/** Those of the ids that are recorded, or were and have been erased. */
export async function selectKnown(
  sql: Sql,
  namespaceId: string,
  ids: readonly string[],
): Promise<KnownObservation[]> {
  const wanted = [...ids]
  return await sql<KnownObservation[]>`
    select observation_id, status, scopes
    from observations
    where namespace_id = ${namespaceId}
      and observation_id = any(${wanted}::text[])
    union all
    select observation_id, 'redacted' as status, scopes
    from tombstones as t
    where namespace_id = ${namespaceId}
      and observation_id = any(${wanted}::text[])
      and not exists (
        select 1
        from observations as o
        where o.namespace_id = t.namespace_id
          and o.observation_id = t.observation_id)`
}

export type IndexedObservation = ObservationRow & {
  terms: string
  termTfs: string
  termCount: number
}

/** Records observations; one that is there already stays as it is. */
export async function insertObservations(
  sql: Sql,
  { id, now }: { id: string; now: string },
  rows: readonly IndexedObservation[],
): Promise<void> {
  await sql`
    insert into observations
      (namespace_id, item, observation_id, source_system, source_stream, external_id, kind,
       occurred_at, valid_to, ingested_at, closed_at, supersedes, superseded_by, actor_type,
       actor_id, subject_type, subject_id, scopes, session_key, title, content, data, assertions,
       provenance, content_hash, status, status_detail, processed_at, writer_visibility, terms,
       term_tfs, term_count)
    select ${id}, r.item, r."observationId", r."sourceSystem", r."sourceStream", r."externalId",
           r.kind, r."occurredAt", r."validTo", ${now},
           case when r."validTo" is not null then ${now}::timestamptz end,
           r.supersedes, r."supersededBy", r."actorType", r."actorId", r."subjectType",
           r."subjectId", r.scopes, r."sessionKey", r.title, r.content, r.data,
           coalesce(r.assertions, '[]'), r.provenance, r."contentHash", r.status, r."statusDetail",
           ${now}, r."writerVisibility", r.terms, r."termTfs", r."termCount"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (item bigint, "observationId" text, "sourceSystem" text, "sourceStream" text,
            "externalId" text, kind text, "occurredAt" timestamptz, "validTo" timestamptz,
            supersedes text, "supersededBy" text, "actorType" text, "actorId" text,
            "subjectType" text, "subjectId" text, scopes text[], "sessionKey" text, title text,
            content text, data jsonb, assertions jsonb, provenance jsonb, "contentHash" text,
            status text, "statusDetail" text, "writerVisibility" text[], terms bigint[],
            "termTfs" smallint[], "termCount" int)
    on conflict (namespace_id, observation_id) do nothing`
}

export interface SuccessionRow {
  observationId: string
  sourceSystem: string | null
  sourceStream: string | null
  externalId: string | null
  subjectType: string | null
  subjectId: string | null
  occurredAt: string
  supersedes: string | null
  scopes: string[]
  writerVisibility: string[] | null
}

function successionColumns(sql: Sql) {
  return sql`
    observation_id, source_system, source_stream, external_id, subject_type, subject_id, supersedes,
    scopes, writer_visibility,
    to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at`
}

/** Observations that may be meant by the names of what is superseded: by id or by subject. */
export async function selectSuperseded(
  sql: Sql,
  namespaceId: string,
  { ids, subjects }: { ids: readonly string[]; subjects: readonly string[] },
): Promise<SuccessionRow[]> {
  return await sql<SuccessionRow[]>`
    select ${successionColumns(sql)}
    from observations
    where namespace_id = ${namespaceId}
      and observation_id = any(${[...ids]}::text[])
    union
    select ${successionColumns(sql)}
    from observations
    where namespace_id = ${namespaceId}
      and subject_type = 'observation'
      and subject_id is not null
      and subject_id = any(${[...subjects]}::text[])`
}

/** Observations that name one of these as superseded. Needs `observations_by_supersedes`. */
export async function selectSuperseding(
  sql: Sql,
  namespaceId: string,
  names: readonly string[],
): Promise<SuccessionRow[]> {
  return await sql<SuccessionRow[]>`
    select ${successionColumns(sql)}
    from observations
    where namespace_id = ${namespaceId}
      and supersedes is not null
      and supersedes = any(${[...names]}::text[])`
}

export interface ObservationEnd {
  observationId: string
  by: string
  at: string
}

export interface EndedItem {
  item: number
  wasOpen: boolean
  termCount: number
}

/** Ends observations where their successors begin, unless they ended before. */
export async function closeObservations(
  sql: Sql,
  { id, now }: { id: string; now: string },
  ends: readonly ObservationEnd[],
): Promise<EndedItem[]> {
  return await sql<EndedItem[]>`
    update observations as o
    set valid_to = greatest(o.occurred_at, r.at), superseded_by = r.by, closed_at = ${now}
    from json_to_recordset(${JSON.stringify(ends)}::text::json)
      as r ("observationId" text, by text, at timestamptz),
      observations as before
    where o.namespace_id = ${id}
      and o.observation_id = r."observationId"
      and before.namespace_id = o.namespace_id
      and before.observation_id = o.observation_id
      and (o.valid_to is null or o.valid_to > r.at)
    returning o.item::float8 as item, before.valid_to is null and before.retired_at is null as was_open, o.term_count`
}

/**
 * Ends what was made from observations that have ended: their texts, notes, and facts that rest on
 * nothing else.
 */
export async function closeDerived(
  sql: Sql,
  { id, now }: { id: string; now: string },
  ends: readonly ObservationEnd[],
): Promise<{ kind: 'chunk' | 'node' | 'edge'; item: number; termCount: number }[]> {
  return await sql<{ kind: 'chunk' | 'node' | 'edge'; item: number; termCount: number }[]>`
    with ended as (
      select r."observationId" as observation_id, r.at
      from json_to_recordset(${JSON.stringify(ends)}::text::json)
        as r ("observationId" text, at timestamptz)
    ), chunk as (
      update chunks as c
      set valid_to = greatest(c.valid_from, ended.at), closed_at = ${now}
      from ended
      where c.namespace_id = ${id}
        and c.observation_id is not null
        and c.observation_id = ended.observation_id
        and c.valid_to is null
        and c.retired_at is null
      returning 'chunk' as kind, c.item, c.term_count
    ), node as (
      update nodes as n
      set valid_to = greatest(n.valid_from, ended.at), closed_at = ${now}
      from ended
      where n.namespace_id = ${id}
        and n.observation_id is not null
        and n.observation_id = ended.observation_id
        and n.valid_to is null
        and n.retired_at is null
      returning 'node' as kind, n.item, n.term_count
    ), edge as (
      update edges as e
      set valid_to = greatest(e.starts_at, ended.at), closed_at = ${now}
      from ended
      where e.namespace_id = ${id}
        and e.observation_ids && array[ended.observation_id]
        and cardinality(e.observation_ids) = 1
        and e.valid_to is null
        and e.retired_at is null
      returning 'edge' as kind, e.item, e.term_count
    )
    select kind, item::float8 as item, term_count from chunk
    union all
    select kind, item::float8 as item, term_count from node
    union all
    select kind, item::float8 as item, term_count from edge`
}
