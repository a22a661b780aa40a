import type { Artifact } from '#contract/artifacts.ts'
import type { ArtifactUpload, UploadPart } from '#contract/artifact-uploads.ts'
import type { ArtifactRow } from './artifact.sql.ts'
import type { PartRow } from './upload-part.sql.ts'
import type { UploadRow } from './upload.sql.ts'

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

export function uploadReply(row: UploadRow): ArtifactUpload {
  const { expiresAt, createdAt, ...rest } = row
  return {
    ...rest,
    contentRef: row.status === 'completed' ? row.id : null,
    expiresAt: expiresAt.toISOString(),
    createdAt: createdAt.toISOString(),
  }
}

export function partReply({ number, sizeBytes, sha256 }: PartRow): UploadPart {
  return { number, sizeBytes, sha256 }
}
