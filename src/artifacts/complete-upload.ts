import { releaseLooseObjects } from '#blobs/loose-object.sql.ts'
import { putVerified } from '#blobs/put-verified.ts'
import { readWhole } from '#blobs/read-verified.ts'
import { adoptObject, announceObject, GRACE_SECONDS } from '#blobs/write-blob.ts'
import type { BlobStore } from '#blobs/store.ts'
import type { Sql } from '#db/sql.ts'
import { badField } from '#lib/bad-field.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { lockPlace } from './lock-place.ts'
import type { PlaceInput } from './lock-place.ts'
import type { Transfer } from './transfer.ts'
import { requireAllParts, requireOpen } from './upload.ts'
import { deleteParts, selectParts } from './upload-part.sql.ts'
import type { PartRow } from './upload-part.sql.ts'
import { lockUpload, selectUpload, updateUploadCompleted } from './upload.sql.ts'
import type { UploadRow } from './upload.sql.ts'

export type Completion = Pick<PlaceInput, 'runId' | 'claimId' | 'fencingToken'> & { id: string }

/**
 * Puts the parts of an upload together and checks that they are what was announced; then an artifact can
 * name the content. Answers the same when that was done before; of several at once one counts. Goes on to
 * its end when the caller goes away.
 *
 * Throws what `lockPlace` and `putVerified` throw, `upload_not_open`, `upload_incomplete`.
 */
export async function completeUpload(
  { transact, store, limits, stored }: Transfer,
  ctx: Ctx,
  input: Completion,
): Promise<UploadRow> {
  const begun = await transact('read write', (sql) => prepare(sql, ctx, input))
  const { upload, objectKey, parts } = begun
  if (objectKey === undefined) return upload
  const { sizeBytes, sha256 } = upload
  const source = { sizeBytes, sha256, chunks: joined(store, parts) }
  const blockDigests = await putVerified(store, objectKey, source)
  const completed = await transact('read write', async (sql) => {
    const now = await lockWritable(sql, ctx, input)
    if (now.status === 'completed') return now
    requireOpen(now)
    await adoptObject(sql, ctx, { sizeBytes, sha256, objectKey, blockDigests })
    const objectKeys = await deleteParts(sql, ctx, upload.id)
    await releaseLooseObjects(sql, ctx, { objectKeys, seconds: GRACE_SECONDS })
    return await updateUploadCompleted(sql, ctx, { ...upload, ...limits })
  })
  stored(sizeBytes)
  return completed
}

async function prepare(
  sql: Sql,
  ctx: Ctx,
  input: Completion,
): Promise<{ upload: UploadRow; objectKey?: string; parts: PartRow[] }> {
  const upload = await lockWritable(sql, ctx, input)
  if (upload.status === 'completed') return { upload, parts: [] }
  requireOpen(upload)
  const parts = await selectParts(sql, ctx, upload.id)
  requireAllParts(upload, parts)
  return { upload, objectKey: await announceObject(sql, ctx, upload.sha256), parts }
}

/** Locks the upload where the caller may still publish what it is for. */
async function lockWritable(sql: Sql, ctx: Ctx, input: Completion): Promise<UploadRow> {
  const { id, ...fence } = input
  const { taskId } = found(await selectUpload(sql, ctx, id), 'upload', id)
  if (taskId !== null) await lockPlace(sql, ctx, { taskId, ...fence })
  else if (fence.fencingToken !== undefined) {
    throw badField('fencingToken', 'is of no use: the upload is for no task')
  }
  return found(await lockUpload(sql, ctx, id), 'upload', id)
}

async function* joined(store: BlobStore, parts: readonly PartRow[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield* readWhole(store, part)
}
