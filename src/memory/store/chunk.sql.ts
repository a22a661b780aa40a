import type { Sql } from '#db/sql.ts'

export interface ChunkRow {
  item: number
  nodeKey: string
  chunkOrder: number
  docType: string
  title: string | null
  heading: string | null
  text: string
  sourcePath: string | null
  observationId: string | null
  meta: Record<string, unknown>
  scopes: string[]
  validFrom: string
  validTo: string | null
  termCount: number
}

/** The open chunks of documents, in order. Needs `chunks_open`. */
export async function selectOpenChunks(
  sql: Sql,
  namespaceId: string,
  nodeKeys: readonly string[],
): Promise<ChunkRow[]> {
  return await sql<ChunkRow[]>`
    select item::float8 as item, node_key, chunk_order, doc_type, title, heading, text, source_path,
           observation_id, meta, scopes,
           to_char(valid_from at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as valid_from,
           null as valid_to, term_count
    from chunks
    where namespace_id = ${namespaceId}
      and node_key = any(${[...nodeKeys]}::text[])
      and valid_to is null
      and retired_at is null
    order by node_key, chunk_order`
}

export type IndexedChunk = ChunkRow & { terms: string; termTfs: string }

export async function insertChunks(
  sql: Sql,
  { id, now }: { id: string; now: string },
  rows: readonly IndexedChunk[],
): Promise<void> {
  await sql`
    insert into chunks
      (namespace_id, item, node_key, chunk_order, doc_type, title, heading, text, source_path,
       observation_id, meta, scopes, valid_from, valid_to, ingested_at, closed_at, terms, term_tfs,
       term_count)
    select ${id}, r.item, r."nodeKey", r."chunkOrder", r."docType", r.title, r.heading, r.text,
           r."sourcePath", r."observationId", r.meta, r.scopes, r."validFrom", r."validTo", ${now},
           case when r."validTo" is not null then ${now}::timestamptz end,
           r.terms, r."termTfs", r."termCount"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (item bigint, "nodeKey" text, "chunkOrder" int, "docType" text, title text, heading text,
            text text, "sourcePath" text, "observationId" text, meta jsonb, scopes text[],
            "validFrom" timestamptz, "validTo" timestamptz, terms bigint[], "termTfs" smallint[],
            "termCount" int)`
}

/** Ends chunks; one that begins later than its end never held. */
export async function closeChunks(
  sql: Sql,
  { id, now }: { id: string; now: string },
  ends: readonly { item: number; at: string }[],
): Promise<void> {
  await sql`
    update chunks
    set valid_to = greatest(chunks.valid_from, r.at), closed_at = ${now}
    from json_to_recordset(${JSON.stringify(ends)}::text::json) as r (item bigint, at timestamptz)
    where chunks.namespace_id = ${id}
      and chunks.item = r.item`
}
