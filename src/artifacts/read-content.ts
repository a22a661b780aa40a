import type { Content } from '#contract/content.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectArtifact, selectContent } from './artifact.sql.ts'

/** The bytes of an artifact. Throws `not_found`, also for one that is only a reference. */
export async function readContent(sql: Sql, ctx: Ctx, id: string): Promise<Content> {
  const artifact = found(await selectArtifact(sql, ctx, id), 'artifact', id)
  const { contentSha256: sha256, mediaType, name: fileName } = artifact
  const kept = sha256 === null ? undefined : await selectContent(sql, ctx, sha256)
  const bytes = found(kept, 'artifact content', id)
  return {
    sizeBytes: bytes.length,
    mediaType: mediaType ?? 'application/octet-stream',
    fileName,
    sha256: sha256 ?? '',
    async *read({ start, end }) {
      yield bytes.subarray(start, end)
    },
  }
}
