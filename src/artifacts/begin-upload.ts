import type { NewArtifactUpload } from '#contract/artifact-uploads.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { lockPlace } from './lock-place.ts'
import type { Place } from './lock-place.ts'
import { requireSize } from './upload.ts'
import type { UploadLimits } from './upload.ts'
import { insertUpload } from './upload.sql.ts'
import type { UploadRow } from './upload.sql.ts'

/**
 * Begins an upload of content that is to be published in the place given, where the caller may publish
 * now. Throws what `lockPlace` throws, and `request_too_large`.
 */
export async function beginUpload(
  sql: Sql,
  ctx: Ctx,
  input: NewArtifactUpload,
  limits: UploadLimits,
): Promise<UploadRow> {
  requireSize(input.sizeBytes, limits.maxBytes)
  const place = await lockPlace(sql, ctx, input)
  return await insertUpload(sql, ctx, { ...uploadRow(input, place, limits), status: 'open' })
}

/** A new upload of a place. */
export function uploadRow(input: NewArtifactUpload, place: Place, { ttlSeconds }: UploadLimits) {
  const { sizeBytes, sha256, mediaType = null } = input
  const { task, claim, workspaceId } = place
  return {
    id: newId(),
    sizeBytes,
    sha256,
    mediaType,
    taskId: task?.id ?? null,
    workspaceId,
    claimId: claim?.id ?? null,
    fencingToken: claim?.fencingToken ?? null,
    ttlSeconds,
  }
}
