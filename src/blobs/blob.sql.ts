import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

/** What a tenant has: in the row, or as an object in the store. */
export interface BlobRow {
  sha256: string
  sizeBytes: number
  content: Buffer | null
  objectKey: string | null
  blockDigests: Buffer | null
}

export async function selectBlob(
  sql: Sql,
  ctx: Tenancy,
  sha256: string,
): Promise<BlobRow | undefined> {
  const [row] = await sql<BlobRow[]>`
    select sha256, size_bytes, content, object_key, block_digests
    from blobs
    where tenant_id = ${ctx.tenantId}
      and sha256 = ${sha256}`
  return row
}

/**
 * Keeps small content in a row, unless the tenant has these bytes. Either way the row is locked until the
 * transaction ends and not to be collected, so whatever is to refer to it can.
 */
export async function keepInline(
  sql: Sql,
  ctx: Tenancy,
  content: { sha256: string; bytes: Buffer },
): Promise<void> {
  const { sha256, bytes } = content
  await sql`
    insert into blobs (tenant_id, sha256, size_bytes, content)
    values (${ctx.tenantId}, ${sha256}, ${bytes.length}, ${bytes})
    on conflict (tenant_id, sha256) do update
    set collect_after = null
    where blobs.collect_after is not null`
}

/** Locks what the tenant has of these bytes. */
export async function lockBlob(
  sql: Sql,
  ctx: Tenancy,
  sha256: string,
): Promise<{ objectKey: string | null } | undefined> {
  const [row] = await sql<{ objectKey: string | null }[]>`
    select object_key
    from blobs
    where tenant_id = ${ctx.tenantId}
      and sha256 = ${sha256}
    for update`
  return row
}

export interface StoredBlobRow {
  sha256: string
  sizeBytes: number
  objectKey: string
  blockDigests: Buffer
}

/** False when the tenant has these bytes. */
export async function insertBlob(sql: Sql, ctx: Tenancy, blob: StoredBlobRow): Promise<boolean> {
  const rows = await sql`
    insert into blobs (tenant_id, sha256, size_bytes, object_key, block_digests)
    values
      (${ctx.tenantId}, ${blob.sha256}, ${blob.sizeBytes}, ${blob.objectKey}, ${blob.blockDigests})
    on conflict (tenant_id, sha256) do nothing
    returning sha256`
  return rows.length > 0
}

/** Lets a blob be another object of the same bytes. */
export async function updateBlobObject(sql: Sql, ctx: Tenancy, blob: StoredBlobRow): Promise<void> {
  await sql`
    update blobs
    set object_key = ${blob.objectKey}, block_digests = ${blob.blockDigests}, collect_after = null
    where tenant_id = ${ctx.tenantId}
      and sha256 = ${blob.sha256}`
}

/** Nothing of what the caller drops refers to the blob any more: it is looked at after a while. */
export async function markForCollection(
  sql: Sql,
  ctx: Tenancy,
  { sha256, graceSeconds }: { sha256: string; graceSeconds: number },
): Promise<void> {
  await sql`
    update blobs
    set collect_after = now() + make_interval(secs => ${graceSeconds})
    where tenant_id = ${ctx.tenantId}
      and sha256 = ${sha256}`
}

export interface Candidate {
  tenantId: string
  sha256: string
}

/** Blobs of every tenant_id that are to be looked at, the longest due first. Uses index blobs_to_collect. */
export async function selectCandidates(sql: Sql, limit: number): Promise<Candidate[]> {
  return await sql<Candidate[]>`
    select tenant_id, sha256
    from blobs
    where collect_after <= now()
    order by collect_after
    limit ${limit}`
}

/** Locks a blob that is still due, so that nothing new can refer to it; undefined when somebody has it. */
export async function lockCandidate(
  sql: Sql,
  { tenantId, sha256 }: Candidate,
): Promise<{ objectKey: string | null } | undefined> {
  const [row] = await sql<{ objectKey: string | null }[]>`
    select object_key
    from blobs
    where tenant_id = ${tenantId}
      and sha256 = ${sha256}
      and collect_after <= now()
    for update skip locked`
  return row
}

/** Fails by a foreign key when anything refers to it. */
export async function deleteBlob(sql: Sql, { tenantId, sha256 }: Candidate): Promise<void> {
  await sql`
    delete from blobs
    where tenant_id = ${tenantId}
      and sha256 = ${sha256}`
}

/** Something refers to it; who drops that marks it again. */
export async function updateBlobKept(sql: Sql, { tenantId, sha256 }: Candidate): Promise<void> {
  await sql`
    update blobs
    set collect_after = null
    where tenant_id = ${tenantId}
      and sha256 = ${sha256}
      and collect_after <= now()`
}
