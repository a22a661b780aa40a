import type { NewArtifact } from '#contract/artifacts.ts'
import { badField } from '#lib/bad-field.ts'
import { sha256 } from '#lib/id.ts'

export interface InlineContent {
  bytes: Buffer
  sizeBytes: number
  sha256: string
  mediaType: string
}

export const UNKNOWN_MEDIA_TYPE = 'application/octet-stream'

/** The bytes that come with an artifact; undefined when there are none. Throws `invalid_request`. */
export function inlineContent(
  input: Pick<NewArtifact, 'content' | 'encoding' | 'mediaType'>,
): InlineContent | undefined {
  const { content, encoding = 'utf8', mediaType } = input
  if (content === undefined) return undefined
  const bytes = Buffer.from(content, encoding)
  if (encoding === 'base64' && bytes.toString('base64') !== content) {
    throw badField('content', 'must be canonical base64')
  }
  const fallback = encoding === 'base64' ? UNKNOWN_MEDIA_TYPE : 'text/plain; charset=utf-8'
  return {
    bytes,
    sizeBytes: bytes.length,
    sha256: sha256(bytes),
    mediaType: mediaType ?? fallback,
  }
}
