import type { NewArtifact } from '#contract/artifacts.ts'
import { badField } from '#lib/bad-field.ts'
import { sha256 } from '#lib/id.ts'

export interface InlineContent {
  bytes: Buffer
  sha256: string
  mediaType: string
}

/** The bytes of an artifact's content; undefined when it is only a reference. Throws `invalid_request`. */
export function inlineContent(
  input: Pick<NewArtifact, 'content' | 'encoding' | 'mediaType'>,
): InlineContent | undefined {
  const { content, encoding = 'utf8', mediaType } = input
  if (content === undefined) return undefined
  const bytes = Buffer.from(content, encoding)
  if (encoding === 'base64' && bytes.toString('base64') !== content) {
    throw badField('content', 'must be canonical base64')
  }
  const fallback = encoding === 'base64' ? 'application/octet-stream' : 'text/plain; charset=utf-8'
  return { bytes, sha256: sha256(bytes), mediaType: mediaType ?? fallback }
}
