import { z } from 'zod'
import type { ByteRange } from '#lib/byte-range.ts'

/** The reply of a route whose rules say `content`: bytes on the wire, not JSON. */
export const Content = z.strictObject({
  sizeBytes: z.int().min(0),
  mediaType: z.string(),
  fileName: z.string(),
  /** Lower-case hex of SHA-256; the strong `ETag` of the bytes. */
  sha256: z.string(),
  /** Gives the bytes from `start`, included, to `end`, excluded; called after the handler, at most once. */
  read: z.custom<(range: ByteRange) => AsyncIterable<Uint8Array>>(
    (value) => typeof value === 'function',
  ),
})
export type Content = z.infer<typeof Content>
