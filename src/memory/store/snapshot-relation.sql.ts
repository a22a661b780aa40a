import type { Sql } from '#db/sql.ts'
import type { RelationState } from '../reconcile/snapshot.ts'
import type { Opening } from './snapshot-entity.sql.ts'

export interface OpenRelationRow {
  identity: string
  contentHash: string
  /** The edge it became; null while an end is missing. */
  factId: string | null
}

export async function selectOpenRelations(
  sql: Sql,
  namespaceId: string,
  sourceNo: number,
): Promise<OpenRelationRow[]> {
  return await sql<OpenRelationRow[]>`
    select identity, content_hash, fact_id
    from snapshot_relations
    where namespace_id = ${namespaceId}
      and source_no = ${sourceNo}
      and closed_by is null`
}

export interface SubjectRow {
  identity: string
  relation: string
  fromKind: string
  fromKey: string
}

/** What open relations are and where they lead from. Needs `snapshot_relations_open`. */
export async function selectSubjects(
  sql: Sql,
  namespaceId: string,
  sourceNo: number,
  relations: readonly { identity: string }[],
): Promise<SubjectRow[]> {
  return await sql<SubjectRow[]>`
    select identity, relation, from_kind, from_key
    from snapshot_relations
    where namespace_id = ${namespaceId}
      and source_no = ${sourceNo}
      and identity = any(${relations.map(({ identity }) => identity)}::text[])
      and closed_by is null`
}

export async function insertSnapshotRelations(
  sql: Sql,
  { id, version, now, sourceNo, at }: Opening,
  rows: readonly (RelationState & { factId: string | null })[],
): Promise<void> {
  await sql`
    insert into snapshot_relations
      (namespace_id, source_no, identity, opened_by, relation, from_kind, from_key, to_kind, to_key,
       attributes, scopes, provenance, content_hash, fact_id, valid_from, ingested_at)
    select ${id}, ${sourceNo}, r.identity, ${version}, r.relation, r."fromKind", r."fromKey",
           r."toKind", r."toKey", r.attributes, r.scopes, r.provenance, r."contentHash", r."factId",
           ${at}, ${now}
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (identity text, relation text, "fromKind" text, "fromKey" text, "toKind" text,
            "toKey" text, attributes jsonb, scopes text[], provenance jsonb, "contentHash" text,
            "factId" text)`
}

/** Ends versions; their edges are ended beside. */
export async function closeSnapshotRelations(
  sql: Sql,
  { id, version, now, sourceNo, at }: Opening,
  ends: readonly { identity: string; superseded: boolean }[],
): Promise<void> {
  await sql`
    update snapshot_relations as e
    set closed_by = ${version}, valid_to = greatest(e.valid_from, ${at}), closed_at = ${now},
        superseded = r.superseded
    from json_to_recordset(${JSON.stringify(ends)}::text::json)
      as r (identity text, superseded boolean)
    where e.namespace_id = ${id}
      and e.source_no = ${sourceNo}
      and e.identity = r.identity
      and e.closed_by is null`
}

export interface WaitingRow extends Omit<RelationState, 'contentHash'> {
  sourceNo: number
  source: string
  scope: string
  /** Version of the namespace that opened it, and the snapshot that did. */
  openedBy: number
  snapshotId: string
  validFrom: string
}

/**
 * Relations that wait for an end and may get it: all of one source, and those of every source that name
 * one of the keys. Needs `snapshot_relations_waiting_from` and `..._to`.
 */
export async function selectWaiting(
  sql: Sql,
  namespaceId: string,
  sourceNo: number,
  keys: readonly string[],
): Promise<WaitingRow[]> {
  return await sql<WaitingRow[]>`
    with waiting as (
      select source_no, identity, opened_by
      from snapshot_relations
      where namespace_id = ${namespaceId}
        and source_no = ${sourceNo}
        and closed_by is null
        and fact_id is null
      union
      select r.source_no, r.identity, r.opened_by
      from unnest(${[...keys]}::text[]) as k (key)
      join snapshot_relations as r
        on r.namespace_id = ${namespaceId}
        and r.from_key = k.key
        and r.closed_by is null
        and r.fact_id is null
      union
      select r.source_no, r.identity, r.opened_by
      from unnest(${[...keys]}::text[]) as k (key)
      join snapshot_relations as r
        on r.namespace_id = ${namespaceId}
        and r.to_key = k.key
        and r.closed_by is null
        and r.fact_id is null
    )
    select r.source_no, s.source, s.scope, r.identity, r.opened_by::float8 as opened_by, r.relation,
           r.from_kind, r.from_key, r.to_kind, r.to_key, r.attributes, r.scopes, r.provenance,
           sn.snapshot_id,
           to_char(r.valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from
    from waiting as w
    join snapshot_relations as r
      on r.namespace_id = ${namespaceId}
      and r.source_no = w.source_no
      and r.identity = w.identity
      and r.opened_by = w.opened_by
    join sources as s
      on s.namespace_id = r.namespace_id
      and s.source_no = r.source_no
    join snapshots as sn
      on sn.namespace_id = r.namespace_id
      and sn.source_no = r.source_no
      and sn.version = r.opened_by`
}

/** Which of the ends are open nodes. Needs `nodes_open`. */
export async function selectOpenEnds(
  sql: Sql,
  namespaceId: string,
  ends: readonly { kind: string; key: string }[],
): Promise<{ kind: string; key: string }[]> {
  return await sql<{ kind: string; key: string }[]>`
    select n.kind, n.key
    from json_to_recordset(${JSON.stringify(ends)}::text::json) as r (kind text, key text)
    join nodes as n
      on n.namespace_id = ${namespaceId}
      and n.key = r.key
      and n.kind = r.kind
      and n.valid_to is null
      and n.retired_at is null
      and not n.placeholder`
}

/** Notes the edges that waiting relations became. */
export async function updateResolved(
  sql: Sql,
  namespaceId: string,
  rows: readonly { sourceNo: number; identity: string; openedBy: number; factId: string }[],
): Promise<void> {
  await sql`
    update snapshot_relations as e
    set fact_id = r."factId"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r ("sourceNo" int, identity text, "openedBy" bigint, "factId" text)
    where e.namespace_id = ${namespaceId}
      and e.source_no = r."sourceNo"
      and e.identity = r.identity
      and e.opened_by = r."openedBy"`
}

/** Ends edges by the relations they came from, with what replaces them. */
export async function closeSnapshotEdges(
  sql: Sql,
  { id, now, at }: Pick<Opening, 'id' | 'now' | 'at'>,
  ends: readonly { factId: string; supersededBy: string | null }[],
): Promise<{ item: number; termCount: number }[]> {
  return await sql<{ item: number; termCount: number }[]>`
    update edges as e
    set valid_to = greatest(e.starts_at, ${at}), closed_at = ${now},
        superseded_by = r."supersededBy"
    from json_to_recordset(${JSON.stringify(ends)}::text::json)
      as r ("factId" text, "supersededBy" text)
    where e.namespace_id = ${id}
      and e.fact_id is not null
      and e.fact_id = r."factId"
      and e.valid_to is null
      and e.retired_at is null
    returning e.item::float8 as item, e.term_count`
}
