import type { Sql } from '#db/sql.ts'
import type { Evidence } from '../recall/bonuses.ts'
import type { Reader } from '../recall/reader.ts'
import { readable, visibleTo } from '../recall/reader.sql.ts'

/** An entity as it was at the moment asked about; moments are UTC with six digits of a second. */
export interface EntityState {
  item: string
  key: string
  kind: string
  title: string
  properties: Record<string, unknown>
  aliases: string[]
  sourcePath: string | null
  provenance: Record<string, unknown> | null
  placeholder: boolean
  validFrom: string
  validTo: string | null
}

/** The columns of `EntityState`, of `nodes`. */
export function stateColumns(sql: Sql, reader: Reader) {
  return sql`
    item, key, kind, title, properties, aliases, source_path, provenance, placeholder,
    ${micros(sql, sql`valid_from`)} as valid_from,
    ${micros(sql, endAsKnown(sql, reader))} as valid_to`
}

/** Where the edges of a step begin. */
export interface StepStart {
  namespaceId: string
  key: string
  kind: string
}

export interface StepQuery {
  reader: Reader
  starts: readonly StepStart[]
  predicate: string
  directions: readonly Direction[]
  /** Edges read for each namespace and direction. */
  limit: number
}

export type Direction = 'in' | 'out'

export interface StepRow {
  /** Place of the start in the list given, from 0. */
  place: number
  direction: Direction
  namespaceId: string
  edge: string
  factId: string | null
  predicate: string
  farKind: string
  attributes: Record<string, unknown>
  from: string | null
  to: string | null
  evidence: Evidence
  confidence: number
  origin: string
  edgePath: string | null
  supersedes: string | null
  snapshotSource: string | null
  snapshotScope: string | null
  snapshotId: string | null
  /** The entity at the far end; null when there is none that the reader may see. */
  state: EntityState | null
}

/**
 * The edges of one relation at the given entities with what stands at their far ends, the best supported
 * and newest first: a row for each edge and entity of the far key. One statement whatever the number of
 * starts and namespaces. Needs `edges_by_subject`, `edges_by_object` and `nodes_by_key`.
 */
export async function selectStep(sql: Sql, query: StepQuery): Promise<StepRow[]> {
  const { reader, starts, directions } = query
  const sides = directions.map((direction, index) =>
    index === 0 ? side(sql, query, direction) : sql`union all ${side(sql, query, direction)}`,
  )
  return await sql<StepRow[]>`
    with start as (
      select namespace_id, key, kind, place::int - 1 as place
      from unnest(
        ${starts.map(({ namespaceId }) => namespaceId)}::bigint[],
        ${starts.map(({ key }) => key)}::text[],
        ${starts.map(({ kind }) => kind)}::text[]
      ) with ordinality as given (namespace_id, key, kind, place)
    ), edge as materialized (${sides})
    select edge.place, edge.direction, edge.namespace_id, edge.item as edge, edge.fact_id,
           edge.predicate, edge.far_kind, edge.attributes,
           ${micros(sql, sql`edge.valid_from`)} as "from",
           ${micros(sql, sql`edge.valid_to`)} as "to",
           edge.evidence, edge.confidence, edge.origin, edge.source_path as edge_path,
           ${nameOfReplaced(sql, reader)} as supersedes, edge.snapshot_source, edge.snapshot_scope, edge.snapshot_id,
           node.state
    from edge /* of the namespaces of the starts */
    left join lateral (
      select json_build_object(
        'item', item::text, 'key', key, 'kind', kind, 'title', title, 'properties', properties,
        'aliases', aliases, 'sourcePath', source_path, 'provenance', provenance,
        'placeholder', placeholder, 'validFrom', ${micros(sql, sql`valid_from`)},
        'validTo', ${micros(sql, endAsKnown(sql, reader))}
      ) as state, kind, audience
      from nodes
      where namespace_id = edge.namespace_id
        and key = edge.far_key
        and ${readable(sql, reader, 'valid_from')}
    ) as node on true
    order by edge.direction desc, edge.place_by_support, node.audience, node.kind`
}

/** The fact that an edge replaced, unless the reader may not see it. */
function nameOfReplaced(sql: Sql, { audience }: Reader) {
  return sql`(
    select fact_id
    from edges
    where namespace_id = edge.namespace_id
      and fact_id = edge.supersedes
      and retired_at is null
      and ${visibleTo(sql, audience)})`
}

/** Readable edges of one direction, numbered by how well they are supported, up to the limit. */
function side(sql: Sql, { reader, predicate, limit }: StepQuery, direction: Direction) {
  const near = direction === 'out' ? 'subject' : 'object'
  const far = direction === 'out' ? 'object' : 'subject'
  return sql`
    select *
    from (
      select start.place, ${direction}::text as direction, one.*,
             row_number() over (
               partition by one.namespace_id
               order by array_position(array['asserted', 'extracted', 'inferred', 'derived'], one.evidence),
                        one.starts_at desc, one.item desc
             ) as place_by_support
      from start
      cross join lateral (
        select namespace_id, item, fact_id, predicate, ${sql(far)} as far_key,
               ${sql(`${far}_kind`)} as far_kind, attributes, valid_from,
               ${endAsKnown(sql, reader)} as valid_to, starts_at, evidence, confidence, origin,
               source_path, supersedes, snapshot_source, snapshot_scope, snapshot_id
        from edges
        where namespace_id = start.namespace_id
          and ${sql(near)} = start.key
          and predicate = ${predicate}
          and (origin <> 'snapshot' or ${sql(`${near}_kind`)} = start.kind)
          and not evidence_lost
          and ${readable(sql, reader)}
        order by array_position(array['asserted', 'extracted', 'inferred', 'derived'], evidence),
                 starts_at desc, item desc
        limit ${limit + 1}
      ) as one
    ) as numbered
    where place_by_support <= ${limit + 1}`
}

/** When something ended, as far as that was known at the moment of knowledge asked about. */
function endAsKnown(sql: Sql, { knownAt }: Reader) {
  if (knownAt === null) return sql`valid_to`
  return sql`case when closed_at > ${knownAt}::text::timestamptz then null else valid_to end`
}

function micros(sql: Sql, moment: ReturnType<typeof endAsKnown>) {
  return sql`to_char(${moment} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}
