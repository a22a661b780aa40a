import type { Sql } from '#db/sql.ts'
import type { SourceVersion } from '../reconcile/merge-sources.ts'
import type { EntityState } from '../reconcile/snapshot.ts'

export interface OpenEntityRow {
  kind: string
  key: string
  contentHash: string
}

/** Everything a source holds open, by its fingerprints. */
export async function selectOpenEntities(
  sql: Sql,
  namespaceId: string,
  sourceNo: number,
): Promise<OpenEntityRow[]> {
  return await sql<OpenEntityRow[]>`
    select kind, key, content_hash
    from snapshot_entities
    where namespace_id = ${namespaceId}
      and source_no = ${sourceNo}
      and closed_by is null`
}

export interface Opening {
  id: string
  version: number
  now: string
  sourceNo: number
  at: string
}

export async function insertSnapshotEntities(
  sql: Sql,
  { id, version, now, sourceNo, at }: Opening,
  rows: readonly (EntityState & { since: Readonly<Record<string, string>> })[],
): Promise<void> {
  await sql`
    insert into snapshot_entities
      (namespace_id, source_no, kind, key, opened_by, title, attributes, aliases, scopes, provenance,
       source_path, content_hash, valid_from, ingested_at, since)
    select ${id}, ${sourceNo}, r.kind, r.key, ${version}, r.title, r.attributes, r.aliases, r.scopes,
           r.provenance, r."sourcePath", r."contentHash", ${at}, ${now}, r.since
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (kind text, key text, title text, attributes jsonb, aliases text[], scopes text[],
            provenance jsonb, "sourcePath" text, "contentHash" text, since jsonb)`
}

export interface EntityEnd {
  kind: string
  key: string
  superseded: boolean
}

/** What a version said that has ended, and since when. */
export interface EndedEntity {
  kind: string
  key: string
  title: string
  attributes: Record<string, unknown>
  since: Record<string, string>
  validFrom: string
}

/** Ends versions and tells what they said. */
export async function closeSnapshotEntities(
  sql: Sql,
  { id, version, now, sourceNo, at }: Opening,
  ends: readonly EntityEnd[],
): Promise<EndedEntity[]> {
  return await sql<EndedEntity[]>`
    update snapshot_entities as e
    set closed_by = ${version}, valid_to = greatest(e.valid_from, ${at}), closed_at = ${now},
        superseded = r.superseded
    from json_to_recordset(${JSON.stringify(ends)}::text::json)
      as r (kind text, key text, superseded boolean)
    where e.namespace_id = ${id}
      and e.source_no = ${sourceNo}
      and e.kind = r.kind
      and e.key = r.key
      and e.closed_by is null
    returning e.kind, e.key, e.title, e.attributes, e.since,
              to_char(e.valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
                as valid_from`
}

/** What all sources hold open about entities. Needs `snapshot_entities_open`. */
export async function selectSourceVersions(
  sql: Sql,
  namespaceId: string,
  ids: readonly { kind: string; key: string }[],
): Promise<SourceVersion[]> {
  return await sql<SourceVersion[]>`
    select e.kind, e.key, s.source, s.scope, e.title, e.attributes, e.aliases, e.scopes,
           e.provenance, e.source_path, e.since,
           to_char(e.valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from
    from json_to_recordset(${JSON.stringify(ids)}::text::json) as r (kind text, key text)
    join snapshot_entities as e
      on e.namespace_id = ${namespaceId}
      and e.kind = r.kind
      and e.key = r.key
      and e.closed_by is null
    join sources as s
      on s.namespace_id = e.namespace_id
      and s.source_no = e.source_no`
}

export interface ConflictRow {
  kind: string
  key: string
  source: string
  scope: string
}

/** Which of the entities other sources hold open, at most `limit`. */
export async function selectConflicts(
  sql: Sql,
  namespaceId: string,
  {
    sourceNo,
    ids,
    limit,
  }: {
    sourceNo: number
    ids: readonly { kind: string; key: string }[]
    limit: number
  },
): Promise<ConflictRow[]> {
  return await sql<ConflictRow[]>`
    select e.kind, e.key, s.source, s.scope
    from json_to_recordset(${JSON.stringify(ids)}::text::json) as r (kind text, key text)
    join snapshot_entities as e
      on e.namespace_id = ${namespaceId}
      and e.kind = r.kind
      and e.key = r.key
      and e.source_no <> ${sourceNo}
      and e.closed_by is null
    join sources as s
      on s.namespace_id = e.namespace_id
      and s.source_no = e.source_no
    order by e.kind, e.key, s.source, s.scope
    limit ${limit}`
}
