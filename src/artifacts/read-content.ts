import { selectBlob } from '#blobs/blob.sql.ts'
import { readVerified } from '#blobs/read-verified.ts'
import type { BlobStore } from '#blobs/store.ts'
import type { Content } from '#contract/content.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { UNKNOWN_MEDIA_TYPE } from './artifact.ts'
import { selectArtifact } from './artifact.sql.ts'

/**
 * The bytes of an artifact, read from the store after the transaction. Throws `not_found`, also for one
 * that is only a reference; reading throws what `readVerified` throws.
 */
export async function readContent(
  sql: Sql,
  ctx: Ctx,
  id: string,
  store: BlobStore,
): Promise<Content> {
  const artifact = found(await selectArtifact(sql, ctx, id), 'artifact', id)
  const { contentSha256, mediaType, name: fileName } = artifact
  const kept = contentSha256 === null ? undefined : await selectBlob(sql, ctx, contentSha256)
  const { sha256, sizeBytes, content, objectKey, blockDigests } = found(
    kept,
    'artifact content',
    id,
  )
  const isStored = objectKey !== null && blockDigests !== null
  return {
    sizeBytes,
    mediaType: mediaType ?? UNKNOWN_MEDIA_TYPE,
    fileName,
    sha256,
    read: (range) =>
      isStored
        ? readVerified(store, { objectKey, sizeBytes, blockDigests }, range)
        : only(content?.subarray(range.start, range.end)),
  }
}

async function* only(bytes: Uint8Array | undefined): AsyncGenerator<Uint8Array> {
  if (bytes && bytes.length > 0) yield bytes
}
