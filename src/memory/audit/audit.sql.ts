import type { Sql } from '#db/sql.ts'

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
