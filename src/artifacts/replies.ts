import type { Artifact } from '#contract/artifacts.ts'
import type { ArtifactRow } from './artifact.sql.ts'

/** A row as the contract shows it. */
export function artifactReply(row: ArtifactRow): Artifact {
  const { contentSha256, mediaType, sizeBytes, createdAt, ...rest } = row
  const isKept = contentSha256 !== null && mediaType !== null && sizeBytes !== null
  return {
    ...rest,
    content: isKept ? { sha256: contentSha256, mediaType, sizeBytes } : null,
    createdAt: createdAt.toISOString(),
  }
}
