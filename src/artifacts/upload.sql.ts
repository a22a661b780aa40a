import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface UploadRow {
  id: string
  status: 'open' | 'completed' | 'aborted'
  sizeBytes: number
  sha256: string
  mediaType: string | null
  taskId: string | null
  workspaceId: string | null
  expiresAt: Date
  createdAt: Date
}

function columns(sql: Sql) {
  return sql`id, status, size_bytes, sha256, media_type, task_id, workspace_id, expires_at, created_at`
}

export async function insertUpload(
  sql: Sql,
  ctx: Ctx,
  upload: Omit<UploadRow, 'expiresAt' | 'createdAt'> & {
    claimId: string | null
    fencingToken: number | null
    ttlSeconds: number
  },
): Promise<UploadRow> {
  const u = upload
  const [row] = await sql<[UploadRow]>`
    insert into artifact_uploads
      (tenant_id, id, principal_id, task_id, workspace_id, claim_id, fencing_token, media_type,
       size_bytes, sha256, status, blob_sha256, expires_at)
    values
      (${ctx.tenantId}, ${u.id}, ${ctx.actorId}, ${u.taskId}, ${u.workspaceId}, ${u.claimId},
       ${u.fencingToken}, ${u.mediaType}, ${u.sizeBytes}, ${u.sha256}, ${u.status},
       ${u.status === 'completed' ? u.sha256 : null},
       clock_timestamp() + make_interval(secs => ${u.ttlSeconds}))
    returning ${columns(sql)}`
  return row
}

/** What `selectUpload` and its locking forms find: uploads of the caller that have not expired. */
function isOwn(sql: Sql, ctx: Ctx, id: string) {
  return sql`
    id = ${id}
    and principal_id = ${ctx.actorId}
    and expires_at > clock_timestamp()
    ${inReach(sql, ctx, 'workspace_id')}`
}

export async function selectUpload(sql: Sql, ctx: Ctx, id: string): Promise<UploadRow | undefined> {
  const [row] = await sql<UploadRow[]>`
    select ${columns(sql)}
    from artifact_uploads
    where tenant_id = ${ctx.tenantId}
      and ${isOwn(sql, ctx, id)}`
  return row
}

/** `update` keeps everybody else from changing it, `share` keeps it from being changed. */
export async function lockUpload(
  sql: Sql,
  ctx: Ctx,
  id: string,
  mode: 'update' | 'share' = 'update',
): Promise<UploadRow | undefined> {
  const [row] = await sql<UploadRow[]>`
    select ${columns(sql)}
    from artifact_uploads
    where tenant_id = ${ctx.tenantId}
      and ${isOwn(sql, ctx, id)}
    ${mode === 'update' ? sql`for update` : sql`for share`}`
  return row
}

/** All of it is there: the blob stays as long as this row. */
export async function updateUploadCompleted(
  sql: Sql,
  ctx: Tenancy,
  { id, ttlSeconds }: { id: string; ttlSeconds: number },
): Promise<UploadRow> {
  const [row] = await sql<[UploadRow]>`
    update artifact_uploads
    set status = 'completed', blob_sha256 = sha256,
        expires_at = clock_timestamp() + make_interval(secs => ${ttlSeconds})
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning ${columns(sql)}`
  return row
}

export async function updateUploadAborted(sql: Sql, ctx: Tenancy, id: string): Promise<UploadRow> {
  const [row] = await sql<[UploadRow]>`
    update artifact_uploads
    set status = 'aborted'
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning ${columns(sql)}`
  return row
}

export interface ExpiredUpload {
  tenantId: string
  id: string
  blobSha256: string | null
}

/** Locks the longest expired upload of any tenant_id. Uses index artifact_uploads_by_expiry. */
export async function lockExpiredUpload(sql: Sql): Promise<ExpiredUpload | undefined> {
  const [row] = await sql<ExpiredUpload[]>`
    select tenant_id, id, blob_sha256
    from artifact_uploads
    where expires_at <= clock_timestamp()
    order by expires_at
    limit 1
    for update skip locked`
  return row
}

export async function deleteUpload(sql: Sql, { tenantId, id }: ExpiredUpload): Promise<void> {
  await sql`
    delete from artifact_uploads
    where tenant_id = ${tenantId}
      and id = ${id}`
}
