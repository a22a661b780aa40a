import { isSpace, runEnd, type Span } from './spans.ts'

export interface KeyMaterial extends Span {
  kind: 'token' | 'jwt' | 'private_key'
}

/** Not `\b`: a secret glued to a letter of another script is still found. */
const STARTS =
  /(?<![A-Za-z0-9_])(?:cp_|ch1_|sk-|gh[opsur]_|github_pat_|xox[abpors]-|eyJ)|-----BEGIN /g
/**
 * Credentials that their issuers gave a form of their own: access keys of AWS, Google, GitLab, npm, PyPI, Hugging
 * Face, Stripe, SendGrid, Slack, DigitalOcean, Shopify, Vault and age, and secrets of webhooks. Each part is bounded,
 * so that a search stays linear.
 */
const SHAPED =
  /(?<![A-Za-z0-9_])(?:(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}|AIza[\w-]{35}|ya29\.[\w-]{20,200}|glpat-[\w-]{20,100}|npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,300}|hf_[A-Za-z0-9]{30,60}|[rs]k_(?:live|test)_[A-Za-z0-9]{16,120}|whsec_[A-Za-z0-9+/]{16,120}={0,2}|SG\.[\w-]{20,24}\.[\w-]{40,50}|xapp-[\w-]{10,200}|do[oprt]_v1_[a-f0-9]{64}|shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}|hv[sb]\.[\w-]{24,200}|AGE-SECRET-KEY-1[A-Z0-9]{58})(?![A-Za-z0-9_])/g
const MIN_TOKEN_CHARS = 8
const MIN_JWT_PART_CHARS = 10
/** Names of our own tools share the prefix of our own keys: verb and lower-case words, no secret. */
const TOOL_NAME =
  /^cp_(?:add|claim|complete|control|create|describe|edit|fail|focus|get|invoke|launch|list|prepare|record|release|remove|request|search|start|suspend|update)(?:_[a-z]{2,12}){1,3}$/
const MAX_TOOL_NAME_CHARS = 48

const PEM_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
const PEM_END = /-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
/** A line of an unfinished block has at least this many base64 characters; prose does not. */
const MIN_PEM_RUN_CHARS = 16

/**
 * Access tokens by prefix or form, JSON web tokens and PEM private keys, in the order they stand, apart from
 * each other. Linear: a run of token characters and the search for the end of a block are each done once.
 */
export function findKeyMaterial(text: string): KeyMaterial[] {
  const prefixed = findPrefixed(text)
  const shaped = [...text.matchAll(SHAPED)].map(({ 0: key, index }): KeyMaterial => {
    return { kind: 'token', start: index, end: index + key.length }
  })
  if (shaped.length === 0) return prefixed
  let done = 0
  return [...prefixed, ...shaped]
    .toSorted((a, b) => a.start - b.start || b.end - a.end)
    .filter(({ start, end }) => {
      const isApart = start >= done
      if (isApart) done = end
      return isApart
    })
}

function findPrefixed(text: string): KeyMaterial[] {
  const found: KeyMaterial[] = []
  const scan = { text, end: 0, jwtEnd: 0, hasPemEnd: true }
  let done = 0
  for (const { 0: prefix, index } of text.matchAll(STARTS)) {
    if (index < done) continue
    const material =
      prefix === '-----BEGIN ' ? pemAt(scan, index) : tokenAt(scan, index, prefix.length)
    if (material === undefined) continue
    found.push(material)
    done = material.end
  }
  return found
}

/** True for the name of one of our own tools, such as `cp_get_context`. */
export function isToolName(text: string): boolean {
  return TOOL_NAME.test(text)
}

interface Scan {
  text: string
  /** End of the run of token characters looked at last, and of the JWT that goes on behind it. */
  end: number
  jwtEnd: number
  hasPemEnd: boolean
}

function tokenAt(scan: Scan, start: number, prefixLength: number): KeyMaterial | undefined {
  const { text } = scan
  if (start >= scan.end) {
    scan.end = runEnd(text, start, isTokenChar)
    scan.jwtEnd = jwtEnd(text, scan.end)
  }
  const end = scan.end
  if (text.startsWith('eyJ', start)) {
    const isJwt = scan.jwtEnd > 0 && end - start >= MIN_JWT_PART_CHARS
    return isJwt ? { kind: 'jwt', start, end: scan.jwtEnd } : undefined
  }
  if (end - start - prefixLength < MIN_TOKEN_CHARS) return undefined
  if (end - start <= MAX_TOOL_NAME_CHARS && isToolName(text.slice(start, end))) return undefined
  return { kind: 'token', start, end }
}

/** End of the second and third part of a JWT whose first part ends at `from`, 0 when there is none. */
function jwtEnd(text: string, from: number): number {
  let at = from
  for (let part = 2; part <= 3; part += 1) {
    if (text[at] !== '.') return 0
    const end = runEnd(text, at + 1, isTokenChar)
    if (end - at - 1 < MIN_JWT_PART_CHARS) return 0
    at = end
  }
  return at
}

function pemAt(scan: Scan, start: number): KeyMaterial | undefined {
  const begin = new RegExp(PEM_BEGIN)
  begin.lastIndex = start
  const header = begin.exec(scan.text)
  if (header === null) return undefined
  const bodyStart = start + header[0].length
  const end = scan.hasPemEnd ? pemEnd(scan, bodyStart) : 0
  if (end > 0) return { kind: 'private_key', start, end }
  const cut = unfinishedEnd(scan.text, bodyStart)
  return cut > bodyStart ? { kind: 'private_key', start, end: cut } : undefined
}

function pemEnd(scan: Scan, from: number): number {
  const closing = new RegExp(PEM_END)
  closing.lastIndex = from
  const match = closing.exec(scan.text)
  if (match === null) scan.hasPemEnd = false
  return match === null ? 0 : match.index + match[0].length
}

function unfinishedEnd(text: string, from: number): number {
  let end = from
  for (;;) {
    const runStart = runEnd(text, end, isSpace)
    const next = runEnd(text, runStart, isPemChar)
    if (next - runStart < MIN_PEM_RUN_CHARS) return end
    end = next
  }
}

function isTokenChar(code: number): boolean {
  return isAlphanumeric(code) || code === 0x5f || code === 0x2d
}

/** Base64, and the backslash of an escaped line break. */
function isPemChar(code: number): boolean {
  return isAlphanumeric(code) || code === 0x2b || code === 0x2f || code === 0x3d || code === 0x5c
}

function isAlphanumeric(code: number): boolean {
  if (code >= 0x61) return code <= 0x7a
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a)
}
