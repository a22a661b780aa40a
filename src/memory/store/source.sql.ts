import type { Sql } from '#db/sql.ts'

export interface SourceRow {
  sourceNo: number
  stateToken: string
  /** Of the newest accepted snapshot. */
  observedAt: string | null
}

export async function selectSource(
  sql: Sql,
  namespaceId: string,
  { source, scope }: { source: string; scope: string },
): Promise<SourceRow | undefined> {
  const [row] = await sql<SourceRow[]>`
    select source_no, state_token,
           to_char(observed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as observed_at
    from sources
    where namespace_id = ${namespaceId}
      and source = ${source}
      and scope = ${scope}`
  return row
}

/** Gives a source its number; the namespace is held, so no two take one. */
export async function insertSource(
  sql: Sql,
  namespaceId: string,
  { source, scope, stateToken }: { source: string; scope: string; stateToken: string },
): Promise<number> {
  const [row] = await sql<{ sourceNo: number }[]>`
    insert into sources (namespace_id, source_no, source, scope, state_token)
    select ${namespaceId}, coalesce(max(source_no), 0) + 1, ${source}, ${scope}, ${stateToken}
    from sources
    where namespace_id = ${namespaceId}
    returning source_no`
  return row?.sourceNo ?? 0
}

export async function updateSource(
  sql: Sql,
  namespaceId: string,
  { sourceNo, stateToken, observedAt }: SourceRow,
): Promise<void> {
  await sql`
    update sources
    set state_token = ${stateToken}, observed_at = ${observedAt}
    where namespace_id = ${namespaceId}
      and source_no = ${sourceNo}`
}

export interface SnapshotRow {
  contentHash: string
  pack: string | null
  observedAt: string
  counters: unknown
}

export async function selectSnapshot(
  sql: Sql,
  namespaceId: string,
  { sourceNo, snapshotId }: { sourceNo: number; snapshotId: string },
): Promise<SnapshotRow | undefined> {
  const [row] = await sql<SnapshotRow[]>`
    select content_hash, pack, counters,
           to_char(observed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as observed_at
    from snapshots
    where namespace_id = ${namespaceId}
      and source_no = ${sourceNo}
      and snapshot_id = ${snapshotId}`
  return row
}

export async function insertSnapshot(
  sql: Sql,
  { id, version, now }: { id: string; version: number; now: string },
  row: SnapshotRow & { sourceNo: number; snapshotId: string },
): Promise<void> {
  await sql`
    insert into snapshots
      (namespace_id, source_no, snapshot_id, version, observed_at, ingested_at, pack, content_hash,
       counters)
    values
      (${id}, ${row.sourceNo}, ${row.snapshotId}, ${version}, ${row.observedAt}, ${now}, ${row.pack},
       ${row.contentHash}, ${sql.json(row.counters as never)})`
}
