import type { Sql } from '#db/sql.ts'
import { visibleTo } from '../recall/reader.sql.ts'
import type { Audience } from '../visibility.ts'

export interface AuditInsert {
  auditId: string
  traceId: string
  action: string
  actor: string
  target: string | null
  details: Record<string, unknown>
  scopes: readonly string[]
}

/** Adds to the trail of a namespace; there is no way to change or remove what was added. */
export async function insertAuditEvents(
  sql: Sql,
  namespaceId: string,
  events: readonly AuditInsert[],
): Promise<void> {
  await sql`
    insert into audit_events
      (namespace_id, audit_id, trace_id, action, actor, target, details, scopes)
    select ${namespaceId}, r."auditId", r."traceId", r.action, r.actor, r.target, r.details, r.scopes
    from json_to_recordset(${JSON.stringify(events)}::text::json)
      as r ("auditId" text, "traceId" text, action text, actor text, target text, details jsonb,
            scopes text[])`
}

export interface AuditRow {
  auditId: string
  action: string
  actor: string
  target: string | null
  details: Record<string, unknown>
  recordedAt: Date
}

/** What was done under a trace, newest first. Needs `audit_events_by_trace`. */
export async function selectAuditEvents(
  sql: Sql,
  namespaceId: string,
  { traceId, audience, limit }: { traceId: string; audience: Audience; limit: number },
): Promise<AuditRow[]> {
  return await sql<AuditRow[]>`
    select audit_id, action, actor, target, details, recorded_at
    from audit_events
    where namespace_id = ${namespaceId}
      and trace_id = ${traceId}
      and ${visibleTo(sql, audience)}
    order by recorded_at desc
    limit ${limit}`
}

export interface TracedRow {
  key: string
  kind: string
  title: string
  sourcePath: string | null
  validFrom: Date
}

/** Nodes that are in a trace and stand now, newest first. Needs `edges_by_object`. */
export async function selectTraced(
  sql: Sql,
  namespaceId: string,
  { anchor, audience, limit }: { anchor: string; audience: Audience; limit: number },
): Promise<TracedRow[]> {
  return await sql<TracedRow[]>`
    select key, kind, title, source_path, valid_from
    from nodes
    where namespace_id = ${namespaceId}
      and key in (
        select subject
        from edges
        where namespace_id = ${namespaceId}
          and object = ${anchor}
          and predicate = 'IN_TRACE'
          and valid_to is null
          and retired_at is null)
      and valid_to is null
      and retired_at is null
      and ${visibleTo(sql, audience)}
    order by valid_from desc
    limit ${limit}`
}
