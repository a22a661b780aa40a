import type { NewArtifact } from '#contract/artifacts.ts'
import type { Sql } from '#db/sql.ts'
import { badField } from '#lib/bad-field.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import type { TaskRow } from '#work/task.sql.ts'
import { UNKNOWN_MEDIA_TYPE } from './artifact.ts'
import { incomplete } from './upload.ts'
import { lockUpload } from './upload.sql.ts'

/**
 * The content that an artifact names by its upload, which stays until the transaction ends; undefined when
 * it names none. Only who sent bytes can name them, so their digest alone opens nothing. Throws `not_found`,
 * `upload_incomplete`, and `invalid_request` for what was uploaded for another task.
 */
export async function uploadedContent(
  sql: Sql,
  ctx: Ctx,
  { contentRef: id, mediaType }: Pick<NewArtifact, 'contentRef' | 'mediaType'>,
  task: TaskRow | undefined,
): Promise<{ sha256: string; sizeBytes: number; mediaType: string } | undefined> {
  if (id === undefined) return undefined
  const upload = found(await lockUpload(sql, ctx, id, 'share'), 'upload', id)
  if (upload.status !== 'completed') throw incomplete(upload, {})
  if (upload.taskId !== null && upload.taskId !== task?.id) {
    throw badField('contentRef', 'must have been uploaded for the same task')
  }
  const { sha256, sizeBytes } = upload
  return { sha256, sizeBytes, mediaType: mediaType ?? upload.mediaType ?? UNKNOWN_MEDIA_TYPE }
}
