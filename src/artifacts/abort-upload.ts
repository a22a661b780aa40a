import { releaseLooseObjects } from '#blobs/loose-object.sql.ts'
import { GRACE_SECONDS } from '#blobs/write-blob.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requireOpen } from './upload.ts'
import { deleteParts } from './upload-part.sql.ts'
import { lockUpload, updateUploadAborted } from './upload.sql.ts'
import type { UploadRow } from './upload.sql.ts'

/** Gives up an upload of the caller; again is the same. Throws `not_found`, `upload_not_open`. */
export async function abortUpload(sql: Sql, ctx: Ctx, id: string): Promise<UploadRow> {
  const upload = found(await lockUpload(sql, ctx, id), 'upload', id)
  if (upload.status === 'aborted') return upload
  requireOpen(upload)
  const objectKeys = await deleteParts(sql, ctx, id)
  await releaseLooseObjects(sql, ctx, { objectKeys, seconds: GRACE_SECONDS })
  return await updateUploadAborted(sql, ctx, id)
}
