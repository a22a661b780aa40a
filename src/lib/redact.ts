import { composeCompatible, dropInvisible } from './invisible.ts'
import { findKeyMaterial } from './key-material.ts'
import { findSecretAssignments } from './secret-assignment.ts'
import { findUrlPasswords } from './url-password.ts'
import { isSpace, replaceSpans, runEnd, type Span } from './spans.ts'

export type SecretKind = 'token' | 'jwt' | 'private_key' | 'assignment'

export interface FoundSecret {
  kind: SecretKind
  /** UTF-16 offset; counted without invisible characters when the secret was spelled with them. */
  index: number
}

export interface PathRedaction {
  /** Keeps the last segment of a path with at least four, for transcripts that people read. */
  keepsLastSegment?: boolean
}

const ROOT_OR_DRIVE =
  /(?<![\w.~-])\/(?:Users|home|root|private|var|tmp|opt|mnt|Volumes)(?![\w-])|(?<![A-Za-z])[A-Za-z]:[\\/]/g
const PATH_QUOTES = '"\'`«»“”„‘’'
const MIN_SEGMENTS_FOR_LAST = 4

/**
 * Replaces credentials: tokens by prefix, JSON web tokens and passwords in URLs become `<redacted>`, PEM
 * private keys `<redacted private key>`, and the value of a key that names a secret `<redacted>`, the key
 * kept.
 * Running it again changes nothing. Linear.
 */
export function redactCredentials(text: string): string {
  const withoutKeys = replaceSpans(text, findKeyMaterial(text), ({ kind }) =>
    kind === 'private_key' ? '<redacted private key>' : '<redacted>',
  )
  const withoutUrls = replaceSpans(withoutKeys, findUrlPasswords(withoutKeys), () => '<redacted>')
  return replaceSpans(withoutUrls, findSecretAssignments(withoutUrls), () => '<redacted>')
}

/**
 * Replaces absolute paths of a machine by `<path>`, up to white space or a quote: below the usual
 * Unix roots and on Windows drives. Relative paths and URLs stay. Linear.
 */
export function redactPaths(text: string, options: PathRedaction = {}): string {
  return replaceSpans(text, findPaths(text), (span) => {
    if (options.keepsLastSegment !== true) return '<path>'
    const segments = text
      .slice(span.start, span.end)
      .split(/[\\/]+/)
      .filter(isSegment)
    const last = segments.length < MIN_SEGMENTS_FOR_LAST ? undefined : segments.at(-1)
    return last === undefined ? '<path>' : `<path>/${last}`
  })
}

/** True when an absolute path of a machine stands in the text. */
export function holdsLocalPath(text: string): boolean {
  return findPaths(text).length > 0
}

/**
 * The first credential in a text, also when it is spelled in full-width letters or split by invisible
 * characters; undefined when there is none. Never returns the value. Sentences such as
 * "token: expires in an hour" are redacted when shown, yet no reason to refuse a text.
 */
export function findSecret(text: string): FoundSecret | undefined {
  const direct = firstSecret(text)
  if (direct !== undefined) return direct
  const plain = composeCompatible(dropInvisible(text))
  return plain === text ? undefined : firstSecret(plain)
}

function firstSecret(text: string): FoundSecret | undefined {
  const material = findKeyMaterial(text)[0]
  const named = findSecretAssignments(text).find((value) => !value.isProse)
  const inUrl = findUrlPasswords(text)[0]
  const assigned = (inUrl?.start ?? Infinity) < (named?.start ?? Infinity) ? inUrl : named
  if (material !== undefined && material.start <= (assigned?.start ?? Infinity)) {
    return { kind: material.kind, index: material.start }
  }
  return assigned === undefined ? undefined : { kind: 'assignment', index: assigned.start }
}

function findPaths(text: string): Span[] {
  const found: Span[] = []
  let done = 0
  for (const { 0: root, index } of text.matchAll(ROOT_OR_DRIVE)) {
    if (index < done) continue
    const rootEnd = index + root.length
    const goesOn = root.includes(':') || text[rootEnd] === '/'
    done = goesOn ? runEnd(text, rootEnd, isPathChar) : rootEnd
    found.push({ start: index, end: done })
  }
  return found
}

function isPathChar(code: number): boolean {
  return !isSpace(code) && !PATH_QUOTES.includes(String.fromCharCode(code))
}

/** Not empty, and not the letter of a drive. */
function isSegment(segment: string): boolean {
  return segment !== '' && !/^[A-Za-z]:$/.test(segment)
}
