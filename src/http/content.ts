import type { Context } from 'hono'
import type { Content } from '#contract/content.ts'

/**
 * Sends bytes that somebody uploaded so that no browser runs them in our origin: always a download,
 * never sniffed, and sandboxed without scripts should a page be made to show it all the same.
 */
export function sendContent(c: Context, content: Content): Response {
  const { bytes, mediaType, fileName, sha256 } = content
  c.header('Content-Type', mediaType)
  c.header('Content-Disposition', disposition(fileName))
  c.header('X-Content-Type-Options', 'nosniff')
  c.header('Content-Security-Policy', "default-src 'none'; sandbox")
  c.header('Cross-Origin-Resource-Policy', 'same-origin')
  c.header('Cache-Control', 'private, no-store')
  c.header('ETag', `"sha256-${sha256}"`)
  return c.body(bytes)
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
