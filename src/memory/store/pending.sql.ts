import type { Recorded } from '#contract/memory.ts'
import type { Sql } from '#db/sql.ts'
import { visibleTo } from '../recall/reader.sql.ts'
import type { Audience } from '../visibility.ts'

export interface PendingRow {
  item: number
  observationId: string
  occurredAt: string
  scopes: string[]
  assertions: Record<string, unknown>[]
  writerVisibility: string[] | null
}

interface PendingQuery {
  audience: Audience
  /** Item numbers grow with the order of arrival. */
  after: number
}

/** Observations whose assertions were not all used, the oldest first. Needs `observations_pending`. */
export async function selectPending(
  sql: Sql,
  namespaceId: string,
  { audience, after, limit }: PendingQuery & { limit: number },
): Promise<PendingRow[]> {
  return await sql<PendingRow[]>`
    select item::float8 as item, observation_id, scopes, assertions, writer_visibility,
           to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at
    from observations
    where namespace_id = ${namespaceId}
      and status in ('received', 'partially_processed', 'failed')
      and item > ${after}
      and ${visibleTo(sql, audience)}
    order by item
    limit ${limit}`
}

export async function selectPendingCount(
  sql: Sql,
  namespaceId: string,
  { audience, after }: PendingQuery,
): Promise<number> {
  const [row] = await sql<[{ pending: number }]>`
    select count(*)::float8 as pending
    from observations
    where namespace_id = ${namespaceId}
      and status in ('received', 'partially_processed', 'failed')
      and item > ${after}
      and ${visibleTo(sql, audience)}`
  return row.pending
}

/** Writes what came of using assertions again. */
export async function updateStatuses(
  sql: Sql,
  { id, now }: { id: string; now: string },
  rows: readonly { item: number; status: Recorded['status']; detail: string | null }[],
): Promise<void> {
  await sql`
    update observations
    set status = r.status, status_detail = r.detail, processed_at = ${now}
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (item bigint, status text, detail text)
    where observations.namespace_id = ${id}
      and observations.item = r.item`
}
