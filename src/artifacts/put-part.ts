import { holdLooseObject, releaseLooseObjects } from '#blobs/loose-object.sql.ts'
import { putVerified } from '#blobs/put-verified.ts'
import { unavailable } from '#blobs/store.ts'
import { announceObject, GRACE_SECONDS } from '#blobs/write-blob.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import type { Transfer } from './transfer.ts'
import { requireOpen, requireRoom } from './upload.ts'
import { selectOtherBytes, selectParts, upsertPart } from './upload-part.sql.ts'
import type { PartRow } from './upload-part.sql.ts'
import { lockUpload } from './upload.sql.ts'

export interface NewPart {
  uploadId: string
  number: number
  sizeBytes: number
  sha256: string
}

/**
 * Adds a part to an open upload of the caller, in the place of one with its number. Throws `not_found`,
 * `upload_not_open`, and what `putVerified` throws.
 */
export async function putPart(
  { transact, store }: Transfer,
  ctx: Ctx,
  part: NewPart,
  chunks: AsyncIterable<Uint8Array>,
): Promise<PartRow> {
  const { sizeBytes, sha256 } = part
  const objectKey = await transact('read write', async (sql) => {
    await requireRoomFor(sql, ctx, part)
    return await announceObject(sql, ctx, sha256)
  })
  await putVerified(store, objectKey, { sizeBytes, sha256, chunks }, ctx.signal)
  const row = { ...part, objectKey }
  await transact('read write', (sql) => recordPart(sql, ctx, row))
  return row
}

async function recordPart(sql: Sql, ctx: Ctx, part: NewPart & { objectKey: string }) {
  const { uploadId, number, objectKey } = part
  await requireRoomFor(sql, ctx, part)
  if (!(await holdLooseObject(sql, ctx, objectKey))) throw unavailable(new Error('Too slow'))
  const replaced = (await selectParts(sql, ctx, uploadId)).find((one) => one.number === number)
  await upsertPart(sql, ctx, part)
  if (!replaced) return
  const objectKeys = [replaced.objectKey]
  await releaseLooseObjects(sql, ctx, { objectKeys, seconds: GRACE_SECONDS })
}

/** Locks the upload, so that its other parts stay as they are. */
async function requireRoomFor(sql: Sql, ctx: Ctx, part: NewPart): Promise<void> {
  const { uploadId, number, sizeBytes } = part
  const upload = found(await lockUpload(sql, ctx, uploadId), 'upload', uploadId)
  requireOpen(upload)
  requireRoom(upload, await selectOtherBytes(sql, ctx, { uploadId, number }), sizeBytes)
}
