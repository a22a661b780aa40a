import type { Sql } from '#db/sql.ts'
import type { Evidence } from './bonuses.ts'
import type { Reader } from './reader.ts'
import { visibleTo } from './reader.sql.ts'

/** Items by their numbers, read as the reader may see and know them; the choice was made before. */
export interface Pick {
  namespaceId: string
  reader: Reader
  items: readonly string[]
}

export interface ObservationRow {
  item: string
  observationId: string
  kind: string
  occurredAt: Date
  validTo: Date | null
  supersededBy: string | null
  actorType: string | null
  actorId: string | null
  subjectType: string | null
  subjectId: string | null
  scopes: string[]
  title: string | null
  content: string | null
  data: Record<string, unknown> | null
  provenance: Record<string, unknown> | null
  sourceSystem: string | null
  sourceStream: string | null
  externalId: string | null
}

export async function selectObservations(sql: Sql, pick: Pick): Promise<ObservationRow[]> {
  return await sql<ObservationRow[]>`
    select item, observation_id, kind, occurred_at, ${known(sql, pick, 'valid_to')},
           ${known(sql, pick, 'superseded_by')}, actor_type, actor_id,
           subject_type, subject_id, scopes, title, content, data, provenance, source_system,
           source_stream, external_id
    from observations
    where namespace_id = ${pick.namespaceId}
      and item = any(${[...pick.items]}::bigint[])
      and status <> 'redacted'
      and ${visibleTo(sql, pick.reader.audience)}`
}

export interface ChunkRow {
  item: string
  nodeKey: string
  chunkOrder: number
  docType: string
  title: string | null
  heading: string | null
  text: string
  sourcePath: string | null
  observationId: string | null
  scopes: string[]
  validFrom: Date
  validTo: Date | null
}

export async function selectChunks(sql: Sql, pick: Pick): Promise<ChunkRow[]> {
  return await sql<ChunkRow[]>`
    select item, node_key, chunk_order, doc_type, title, heading, text, source_path, observation_id,
           scopes, valid_from, ${known(sql, pick, 'valid_to')}
    from chunks
    where namespace_id = ${pick.namespaceId}
      and item = any(${[...pick.items]}::bigint[])
      and ${visibleTo(sql, pick.reader.audience)}`
}

export interface NodeRow {
  item: string
  key: string
  kind: string
  title: string
  properties: Record<string, unknown>
  sourcePath: string | null
  observationId: string | null
  provenance: Record<string, unknown> | null
  confidence: number | null
  origin: string
  scopes: string[]
  validFrom: Date
  validTo: Date | null
}

export async function selectNodes(sql: Sql, pick: Pick): Promise<NodeRow[]> {
  return await sql<NodeRow[]>`
    select item, key, kind, title, properties, source_path, observation_id, provenance, confidence,
           origin, scopes, valid_from, ${known(sql, pick, 'valid_to')}
    from nodes
    where namespace_id = ${pick.namespaceId}
      and item = any(${[...pick.items]}::bigint[])
      and ${visibleTo(sql, pick.reader.audience)}`
}

export interface FactRow {
  item: string
  factId: string
  subject: string
  predicate: string
  object: string
  attributes: Record<string, unknown>
  startsAt: Date
  validFrom: Date | null
  validTo: Date | null
  observedAt: Date
  evidence: Evidence
  confidence: number
  observationIds: string[]
  supersedes: string | null
  supersededBy: string | null
  sourcePath: string | null
  origin: string
  scopes: string[]
}

export async function selectFacts(sql: Sql, pick: Pick): Promise<FactRow[]> {
  return await sql<FactRow[]>`
    select item, fact_id, subject, predicate, object, attributes, starts_at, valid_from,
           ${known(sql, pick, 'valid_to')}, ${known(sql, pick, 'superseded_by')}, observed_at, evidence, confidence, observation_ids, supersedes, source_path,
           origin, scopes
    from edges
    where namespace_id = ${pick.namespaceId}
      and item = any(${[...pick.items]}::bigint[])
      and fact_id is not null
      and not evidence_lost
      and ${visibleTo(sql, pick.reader.audience)}`
}

/** Those of the given observations and facts that the reader may see: names that may be told. */
export async function selectVisibleIds(
  sql: Sql,
  ids: { namespaceId: string; reader: Reader; ids: readonly string[] },
): Promise<string[]> {
  const wanted = [...ids.ids]
  const rows = await sql<{ id: string }[]>`
    select observation_id as id
    from observations
    where namespace_id = ${ids.namespaceId}
      and observation_id = any(${wanted}::text[])
      and ${visibleTo(sql, ids.reader.audience)}
    union all
    select fact_id as id
    from edges
    where namespace_id = ${ids.namespaceId}
      and fact_id = any(${wanted}::text[])
      and retired_at is null
      and ${visibleTo(sql, ids.reader.audience)}`
  return rows.map(({ id }) => id)
}

/** How an item ended, or null if that was not known yet at the moment of knowledge asked about. */
function known(sql: Sql, { reader }: Pick, column: 'valid_to' | 'superseded_by') {
  if (reader.knownAt === null) return sql(column)
  return sql`
    case when closed_at > ${reader.knownAt}::text::timestamptz then null else ${sql(column)} end
      as ${sql(column)}`
}
