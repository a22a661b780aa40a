import { isSpace, runEnd, type Span } from './spans.ts'

/** The value behind a key that names a secret; the span covers the value and its quotes. */
export interface SecretAssignment extends Span {
  /** True for `token: expires soon`, which reads like a sentence about a token. */
  isProse: boolean
}

/**
 * Keys also count behind `_` and `-` (`DB_PASSWORD=`), since that is how they leak; `fencing_token` is
 * a number of our own protocol.
 */
const KEY =
  /(?<![A-Za-z0-9])(?<!fencing[_-])(?:api[_-]?key|access[_-]?token|refresh[_-]?token|secret[_-]?key|secret[_-]?access[_-]?key|private[_-]?key|account[_-]?key|passphrase|client[_-]?secret|authorization|password|passwd|token|secret)(?=["'`]?\s*[:=])/gi
const SCHEME = /^(?:bearer|basic|token|digest|negotiate)$/i
const SCHEME_FIRST = /^(?:bearer|basic|token|digest|negotiate)[ \t]{1,8}/i
const PLACEHOLDER =
  /^(?:string|number|boolean|null|none|undefined|required|optional|missing|invalid|expired|revoked|unknown)\W*$/i
/** What only names where a value comes from: a command, a variable, a place of a template. */
const REFERENCE =
  /^(?:\$\([^()]{1,200}\)|\$\{[A-Za-z_]\w{0,99}\}|\$[A-Z_][A-Z0-9_]{0,99}|\{\{[^{}]{1,100}\}\})(?=["'`\s,;)\]}|&]|$)/
const MAX_REFERENCE_CHARS = 210
const MIN_VALUE_CHARS = 4

/** Values of `key=value` and `key: value` with a key that names a secret, in order. Linear. */
export function findSecretAssignments(text: string): SecretAssignment[] {
  const found: SecretAssignment[] = []
  let done = 0
  for (const { 0: key, index } of text.matchAll(KEY)) {
    if (index < done) continue
    const value = valueAfter(text, index + key.length)
    if (value === undefined) continue
    found.push(value)
    done = value.end
  }
  return found
}

function valueAfter(text: string, keyEnd: number): SecretAssignment | undefined {
  const sign = runEnd(text, keyEnd, (code) => isSpace(code) || isQuote(code))
  const start = runEnd(text, signEnd(text, sign), isSpace)
  if (isRedacted(text, start) || isReference(text, start)) return undefined
  if (isQuote(text.charCodeAt(start))) {
    const close = closingQuote(text, start)
    if (close > 0) {
      const isLong = close - start - 1 >= MIN_VALUE_CHARS
      return isLong ? { start, end: close + 1, isProse: false } : undefined
    }
  }
  return bareValue(text, sign, start)
}

/** True for what redaction left there earlier, as a whole value. */
function isRedacted(text: string, start: number): boolean {
  return /^["'`]?<redacted(?: private key)?>["'`]?(?=[\s,;)\]}]|$)/.test(
    text.slice(start, start + 26),
  )
}

/** True for a value such as `$(cat key)`, `"${TOKEN}"` or `Bearer $KEY`. */
function isReference(text: string, start: number): boolean {
  const open = isQuote(text.charCodeAt(start)) ? start + 1 : start
  const [scheme = ''] = SCHEME_FIRST.exec(text.slice(open, open + 20)) ?? []
  const at = open + scheme.length
  return REFERENCE.test(text.slice(at, at + MAX_REFERENCE_CHARS))
}

/** Behind `:`, `=`, `:=` or `=>`. */
function signEnd(text: string, sign: number): number {
  const pair = text.slice(sign, sign + 2)
  return pair === ':=' || pair === '=>' ? sign + 2 : sign + 1
}

function bareValue(text: string, sign: number, start: number): SecretAssignment | undefined {
  const end = runEnd(text, start, isValueChar)
  const value = text.slice(start, end)
  if (value.length < MIN_VALUE_CHARS) return undefined
  const isKey = /[:=]$/.test(value)
  // The key of a nested mapping: `secret:` and an indented `name: x` on the next line.
  if (isKey && text.slice(sign, start).includes('\n')) return undefined
  const next = runEnd(text, end, isBlank)
  if (next > end && (isKey || SCHEME.test(value))) {
    return { start, end: runEnd(text, next, isValueChar), isProse: false }
  }
  return { start, end, isProse: readsAsProse(text, { sign, start, end, next }) }
}

interface Bare {
  sign: number
  start: number
  end: number
  next: number
}

function readsAsProse(text: string, bare: Bare): boolean {
  const value = text.slice(bare.start, bare.end)
  if (PLACEHOLDER.test(value)) return true
  if (text[bare.sign] !== ':' || bare.start === bare.sign + 1 || bare.next === bare.end)
    return false
  return /^\p{L}+$/u.test(value) && /^\p{L}/u.test(text.slice(bare.next, bare.next + 2))
}

/** The same quote on the same line, not escaped; 0 when there is none. */
function closingQuote(text: string, open: number): number {
  const quote = text.charCodeAt(open)
  for (let at = open + 1; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) return at
    if (code === 0x0a) return 0
    if (code === 0x5c) at += 1
  }
  return 0
}

function isQuote(code: number): boolean {
  return code === 0x22 || code === 0x27 || code === 0x60
}

function isBlank(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function isValueChar(code: number): boolean {
  return code !== 0x2c && code !== 0x3b && !isSpace(code)
}
