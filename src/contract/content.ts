import { z } from 'zod'

/** The reply of a route whose rules say `content`: bytes on the wire, not JSON. */
export const Content = z.strictObject({
  bytes: z.instanceof(Uint8Array),
  mediaType: z.string(),
  fileName: z.string(),
  /** Lower-case hex of SHA-256; the strong `ETag` of the bytes. */
  sha256: z.string(),
})
export type Content = z.infer<typeof Content>
