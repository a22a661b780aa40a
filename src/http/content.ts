import type { Context } from 'hono'
import type { Content } from '#contract/content.ts'
import type { ByteRange } from '#lib/byte-range.ts'
import { AppError } from '#lib/errors.ts'
import { readRange } from './range-header.ts'

/**
 * Sends bytes that somebody uploaded so that no browser runs them in our origin: always a download,
 * never sniffed, and sandboxed without scripts should a page be made to show it all the same. Answers 206
 * to a `Range`, 304 to who has them. Throws `range_not_satisfiable`, and what `read` throws before its
 * first byte; what it throws later cuts the answer short.
 */
export async function sendContent(c: Context, content: Content): Promise<Response> {
  const { sizeBytes, mediaType, fileName, sha256 } = content
  const etag = `"sha256-${sha256}"`
  const part = rangeOf(c, etag, sizeBytes)
  c.header('Content-Disposition', disposition(fileName))
  c.header('X-Content-Type-Options', 'nosniff')
  c.header('Content-Security-Policy', "default-src 'none'; sandbox")
  c.header('Cross-Origin-Resource-Policy', 'same-origin')
  c.header('Cache-Control', 'private, no-store')
  c.header('Accept-Ranges', 'bytes')
  c.header('ETag', etag)
  if (namesTag(c.req.header('if-none-match'), etag)) return c.body(null, 304)
  const { start, end } = part ?? { start: 0, end: sizeBytes }
  c.header('Content-Type', mediaType)
  c.header('Content-Length', String(end - start))
  if (part) c.header('Content-Range', `bytes ${start}-${end - 1}/${sizeBytes}`)
  if (c.req.raw.method === 'HEAD') return c.body(null)
  return c.body(await streamOf(content.read({ start, end })), part ? 206 : 200)
}

/** The part that is asked for, unless it is asked for of other bytes. Source: RFC 9110, section 13.1.5. */
function rangeOf(c: Context, etag: string, sizeBytes: number): ByteRange | undefined {
  const condition = c.req.header('if-range')
  if (c.req.raw.method !== 'GET' || (condition !== undefined && condition !== etag)) {
    return undefined
  }
  const part = readRange(c.req.header('range'), sizeBytes)
  if (part !== null) return part
  c.header('Content-Range', `bytes */${sizeBytes}`)
  throw new AppError('range_not_satisfiable', 'Cannot send this range: the content is shorter', {
    details: { sizeBytes },
  })
}

/** Whether an `If-None-Match` names a tag; compared weakly. Source: RFC 9110, section 13.1.2. */
export function namesTag(header: string | undefined, etag: string): boolean {
  const tags = (header ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  return tags.includes(etag) || tags.includes('*')
}

/** Waits for the first bytes, so that what cannot be read at all is refused as other requests are. */
async function streamOf(chunks: AsyncIterable<Uint8Array>): Promise<ReadableStream<Uint8Array>> {
  const iterator = chunks[Symbol.asyncIterator]()
  let next = await iterator.next()
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (next.done) {
          controller.close()
          return
        }
        controller.enqueue(next.value)
        next = await iterator.next()
      },
      async cancel() {
        await iterator.return?.()
      },
    },
    { highWaterMark: 0 },
  )
}

/** An ASCII name for everybody and the exact one beside it. Source: RFC 6266, RFC 8187. */
function disposition(fileName: string): string {
  const ascii = fileName.replaceAll(/[^A-Za-z0-9._-]+/g, '_') || 'artifact'
  const exact = encodeURIComponent(fileName).replaceAll(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `attachment; filename="${ascii}"; filename*=UTF-8''${exact}`
}
