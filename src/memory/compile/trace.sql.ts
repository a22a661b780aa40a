import type { Sql } from '#db/sql.ts'

export interface TraceInsert {
  namespaceId: string
  traceId: string
  trace: Record<string, unknown>
}

export async function insertTraces(sql: Sql, traces: readonly TraceInsert[]): Promise<void> {
  const rows = traces.map(({ namespaceId, traceId, trace }) => ({ namespaceId, traceId, trace }))
  await sql`
    insert into context_traces (namespace_id, trace_id, trace)
    select r."namespaceId", r."traceId", r.trace
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r ("namespaceId" bigint, "traceId" text, trace jsonb)
    where exists (
      select 1
      from namespaces
      where id = r."namespaceId"
    )
    on conflict (namespace_id, trace_id) do nothing`
}

export async function selectTrace(
  sql: Sql,
  namespaceId: string,
  traceId: string,
): Promise<Record<string, unknown> | undefined> {
  const [row] = await sql<{ trace: Record<string, unknown> }[]>`
    select trace
    from context_traces
    where namespace_id = ${namespaceId}
      and trace_id = ${traceId}`
  return row?.trace
}
