import { putVerified } from '#blobs/put-verified.ts'
import { adoptObject, announceObject } from '#blobs/write-blob.ts'
import type { NewArtifactUpload } from '#contract/artifact-uploads.ts'
import type { Ctx } from '#lib/ctx.ts'
import { uploadRow } from './begin-upload.ts'
import { lockPlace } from './lock-place.ts'
import type { Transfer } from './transfer.ts'
import { requireSize } from './upload.ts'
import { insertUpload } from './upload.sql.ts'
import type { UploadRow } from './upload.sql.ts'

/**
 * Uploads content in one go. The caller must be able to publish in the place given before the first byte is
 * taken and after the last. Throws what `beginUpload` and `putVerified` throw.
 */
export async function sendContent(
  { transact, store, limits, stored }: Transfer,
  ctx: Ctx,
  input: NewArtifactUpload,
  chunks: AsyncIterable<Uint8Array>,
): Promise<UploadRow> {
  const { sizeBytes, sha256 } = input
  requireSize(sizeBytes, limits.maxBytes)
  const objectKey = await transact('read write', async (sql) => {
    await lockPlace(sql, ctx, input)
    return await announceObject(sql, ctx, sha256)
  })
  const source = { sizeBytes, sha256, chunks }
  const blockDigests = await putVerified(store, objectKey, source, ctx.signal)
  const upload = await transact('read write', async (sql) => {
    const place = await lockPlace(sql, ctx, input)
    await adoptObject(sql, ctx, { sizeBytes, sha256, objectKey, blockDigests })
    return await insertUpload(sql, ctx, { ...uploadRow(input, place, limits), status: 'completed' })
  })
  stored(sizeBytes)
  return upload
}
