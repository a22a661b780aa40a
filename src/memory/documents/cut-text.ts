import type { TextWrite } from '../graph/project.ts'
import type { CutText } from '../store/write-chunks.ts'
import { chunkText } from './chunk-text.ts'

/** A text of an assertion with the chunks it is stored in. */
export function cutText(text: TextWrite): CutText {
  return {
    ...text,
    chunks: chunkText(text.content, text.docType).map((chunk) => ({
      ...chunk,
      heading: chunk.heading ?? text.heading,
    })),
  }
}
