import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface PartRow {
  number: number
  sizeBytes: number
  sha256: string
  objectKey: string
}

/** All parts of an upload, in their order. */
export async function selectParts(sql: Sql, ctx: Tenancy, uploadId: string): Promise<PartRow[]> {
  return await sql<PartRow[]>`
    select number, size_bytes, sha256, object_key
    from artifact_upload_parts
    where tenant_id = ${ctx.tenantId}
      and upload_id = ${uploadId}
    order by number`
}

/** Bytes in the other parts of an upload. */
export async function selectOtherBytes(
  sql: Sql,
  ctx: Tenancy,
  { uploadId, number }: { uploadId: string; number: number },
): Promise<number> {
  const [row] = await sql<{ bytes: number }[]>`
    select coalesce(sum(size_bytes), 0)::float8 as bytes
    from artifact_upload_parts
    where tenant_id = ${ctx.tenantId}
      and upload_id = ${uploadId}
      and number <> ${number}`
  return row?.bytes ?? 0
}

/** Takes the place of a part of the same number; the lock on the upload is the caller's. */
export async function upsertPart(
  sql: Sql,
  ctx: Tenancy,
  { uploadId, ...part }: PartRow & { uploadId: string },
): Promise<void> {
  await sql`
    insert into artifact_upload_parts
      (tenant_id, upload_id, number, size_bytes, sha256, object_key)
    values
      (${ctx.tenantId}, ${uploadId}, ${part.number}, ${part.sizeBytes}, ${part.sha256},
       ${part.objectKey})
    on conflict (tenant_id, upload_id, number) do update
    set size_bytes = excluded.size_bytes, sha256 = excluded.sha256,
        object_key = excluded.object_key`
}

/** Answers the keys of the objects that held them. */
export async function deleteParts(
  sql: Sql,
  { tenantId }: Pick<Tenancy, 'tenantId'>,
  uploadId: string,
): Promise<string[]> {
  const rows = await sql<{ objectKey: string }[]>`
    delete from artifact_upload_parts
    where tenant_id = ${tenantId}
      and upload_id = ${uploadId}
    returning object_key`
  return rows.map(({ objectKey }) => objectKey)
}
