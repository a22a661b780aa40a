import type { Sql } from '#db/sql.ts'

export interface TraceInsert {
  namespaceId: string
  traceId: string
  trace: Record<string, unknown>
  /** What it names: it goes with the first of them that is purged. */
  items: readonly string[]
}

/** Stores traces, but for one that names what was purged meanwhile. */
export async function insertTraces(sql: Sql, traces: readonly TraceInsert[]): Promise<void> {
  await sql`
    insert into context_traces (namespace_id, trace_id, trace, items)
    select r."namespaceId", r."traceId", r.trace, r.items
    from json_to_recordset(${JSON.stringify(traces)}::text::json)
      as r ("namespaceId" bigint, "traceId" text, trace jsonb, items text[])
    where exists (
        select 1
        from namespaces
        where id = r."namespaceId")
      and not exists (
        select 1
        from tombstones as t
        where t.namespace_id = r."namespaceId"
          and t.mode = 'purge'
          and t.observation_id = any(r.items))
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
