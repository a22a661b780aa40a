import { stripFence } from '#lib/fence.ts'
import { composeCompatible, dropInvisible } from '#lib/invisible.ts'
import { redactCredentials, redactPaths } from '#lib/redact.ts'

const FIRST_WINDOW_CHARS = 4096
/** A tag's attributes or a replacement may straddle the end of a window; this much is not relied on. */
const WINDOW_MARGIN_CHARS = 300

/**
 * One string of a pack as one line of text that can neither close the fence nor carry a secret:
 * invisible characters dropped, local paths and credentials replaced (before and after compatibility
 * composition, which undoes full-width spellings), tags of the fence removed, white space collapsed.
 * Linear.
 */
export function cleanText(raw: string): string {
  const redacted = redact(dropInvisible(raw))
  const composed = composeCompatible(redacted)
  const safe = composed === redacted ? redacted : redact(dropInvisible(composed))
  const stripped = stripFence(safe)
  // A removed tag may have split a secret.
  return collapse(stripped === safe ? safe : stripFence(redact(stripped)))
}

/**
 * {@link cleanText} of at least the first `maxChars` characters of the result, for a text of which no
 * more will be shown: a long one is cleaned by growing windows that end at white space.
 */
export function cleanStart(raw: string, maxChars: number): string {
  for (let size = FIRST_WINDOW_CHARS; size < raw.length; size *= 4) {
    const end = nextSpace(raw, size)
    if (end >= raw.length) break
    const part = raw.slice(0, end)
    if (endsInsideBlock(part)) continue
    const cleaned = cleanText(part)
    if (cleaned.length > maxChars + WINDOW_MARGIN_CHARS) return cleaned
  }
  return cleanText(raw)
}

/** White space of all kinds, and runs of it, become one space; none at the ends. */
export function collapse(text: string): string {
  return text.replace(/\s\s+|[^\S ]/g, ' ').trim()
}

/** At most `maxChars` UTF-16 units, an ellipsis in place of what is cut; never half a character. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  if (maxChars < 1) return ''
  return `${sliceWhole(text, maxChars - 1).trimEnd()}…`
}

/** The first `maxChars` UTF-16 units, one less when the last would be half a character. */
export function sliceWhole(text: string, maxChars: number): string {
  const last = text.charCodeAt(maxChars - 1)
  const isHalf = last >= 0xd800 && last < 0xdc00
  return text.slice(0, isHalf ? maxChars - 1 : maxChars)
}

/** Key blocks first: their lines may look like paths. */
function redact(text: string): string {
  const withoutBlocks = text.includes('-----BEGIN ') ? redactCredentials(text) : text
  return redactCredentials(redactPaths(withoutBlocks))
}

function nextSpace(text: string, from: number): number {
  const pattern = /\s/g
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}

function endsInsideBlock(text: string): boolean {
  const begin = text.lastIndexOf('-----BEGIN ')
  return begin >= 0 && !text.includes('-----END ', begin)
}
