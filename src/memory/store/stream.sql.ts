import type { Sql } from '#db/sql.ts'

export interface StreamRow {
  system: string
  stream: string
  e: number
  t: string
  s: string
  received: number
}

/** Keeps the greatest position of a stream and counts what it brought. */
export async function upsertStream(sql: Sql, namespaceId: string, row: StreamRow): Promise<void> {
  await sql`
    insert into streams
      (namespace_id, system, stream, position_e, position_t, position_s, received)
    values
      (${namespaceId}, ${row.system}, ${row.stream}, ${row.e}, ${row.t}, ${row.s}, ${row.received})
    on conflict (namespace_id, system, stream) do update
    set (position_e, position_t, position_s) = (
          select p.e, p.t, p.s
          from (values
            (streams.position_e, streams.position_t, streams.position_s),
            (excluded.position_e, excluded.position_t, excluded.position_s)
          ) as p (e, t, s)
          order by p.e desc, p.t desc, p.s desc
          limit 1
        ),
        received = streams.received + excluded.received,
        updated_at = now()`
}

export async function selectStreams(sql: Sql, namespace: string): Promise<StreamRow[]> {
  return await sql<StreamRow[]>`
    select system, stream, position_e as e, position_t::text as t, position_s::text as s,
           received::float8 as received
    from streams
    where namespace_id = (select id from namespaces where namespace = ${namespace})
    order by system, stream`
}

/** Identity of this database: another one was restored or made anew. */
export async function selectInstanceId(sql: Sql): Promise<string> {
  const [row] = await sql<{ id: string }[]>`
    select id
    from instance /* of all namespaces */`
  if (!row) throw new Error('The memory database has no identity')
  return row.id
}
