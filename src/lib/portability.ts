import { walkJson, type JsonNode } from './json-walk.ts'
import { isToolName } from './key-material.ts'
import { findSecret, holdsLocalPath, type SecretKind } from './redact.ts'

export interface PortabilityViolation {
  /** JSON Pointer to the value, or to the object when its key is at fault. */
  pointer: string
  kind: 'local_path' | 'sensitive_key' | 'credential'
}

export interface SecretPlace {
  /** JSON Pointer to the value. */
  pointer: string
  kind: SecretKind | 'sensitive_key'
}

const SENSITIVE_KEYS = new Set([
  'apikey',
  'api_key',
  'access_key',
  'access_token',
  'auth_token',
  'authorization',
  'credential',
  'credentials',
  'id_token',
  'key_hash',
  'passwd',
  'password',
  'private_key',
  'refresh_token',
  'secret',
  'secret_key',
  'token',
])
const SENSITIVE_END = /_(?:api_key|password|passwd|secret|secret_key|access_token)$/
const HOME_OR_FILE = /(?<![\w/.~-])~\/|(?<![A-Za-z])file:\/\//i
const WHOLE_PATH = /^(?:\/[^\s/]+\/\S*|\\\\\S+|[A-Za-z]:[\\/]\S*)$/
const WHOLE_TOKEN = /^(?:cp_|ch1_|sk-|gh[opsur]_|github_pat_|xox)[A-Za-z0-9_-]{4,}$/
const MIN_SECRET_CHARS = 4

/**
 * Why a value must not leave this machine, or undefined when it may: paths of the machine (also as
 * `file://` and `~/`), strings that are a path as a whole, filled fields whose name promises a
 * credential, credentials by their look. The first one in document order; the value is not repeated.
 */
export function portabilityViolation(value: unknown): PortabilityViolation | undefined {
  for (const node of walkJson(value)) {
    if (isSensitiveKey(node.key ?? '') && isFilled(node.value)) {
      return { pointer: node.pointer, kind: 'sensitive_key' }
    }
    const ofKey = node.key === undefined ? undefined : violationOf(node.key)
    if (ofKey !== undefined) return { pointer: parentOf(node), kind: ofKey }
    const ofValue = typeof node.value === 'string' ? violationOf(node.value) : undefined
    if (ofValue !== undefined) return { pointer: node.pointer, kind: ofValue }
  }
  return undefined
}

/**
 * The first credential inside a JSON value, for refusing a write: in any string, and as text under a
 * key that promises one. Only kind and place, never the value.
 */
export function findSecretIn(value: unknown): SecretPlace | undefined {
  for (const node of walkJson(value)) {
    const inKey = node.key === undefined ? undefined : findSecret(node.key)
    if (inKey !== undefined) return { pointer: parentOf(node), kind: inKey.kind }
    if (typeof node.value !== 'string') continue
    const found = findSecret(node.value)
    if (found !== undefined) return { pointer: node.pointer, kind: found.kind }
    const isNamed = isSensitiveKey(node.key ?? '') && isFilled(node.value)
    if (isNamed && node.value.length >= MIN_SECRET_CHARS) {
      return { pointer: node.pointer, kind: 'sensitive_key' }
    }
  }
  return undefined
}

/** True for `apiKey`, `client-secret`, `DB_PASSWORD`, `token`; false for `fencingToken`, `tokens`. */
export function isSensitiveKey(key: string): boolean {
  if (key.length > 100) return false
  const snake = key
    .replace(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll('-', '_')
    .toLowerCase()
  return SENSITIVE_KEYS.has(snake) || SENSITIVE_END.test(snake)
}

function violationOf(text: string): 'local_path' | 'credential' | undefined {
  const trimmed = text.trim()
  if (holdsLocalPath(text) || HOME_OR_FILE.test(text) || WHOLE_PATH.test(trimmed)) {
    return 'local_path'
  }
  if (text.includes('-----BEGIN')) return 'credential'
  if (WHOLE_TOKEN.test(trimmed) && !isToolName(trimmed)) return 'credential'
  return findSecret(text) === undefined ? undefined : 'credential'
}

/** Neither empty nor already redacted. */
function isFilled(value: unknown): boolean {
  if (value === null || value === undefined || value === false || value === '') return false
  if (typeof value === 'string') return !/^<redacted[^>]*>$/.test(value)
  return typeof value !== 'object' || Object.keys(value).length > 0
}

function parentOf(node: JsonNode): string {
  return node.pointer.slice(0, node.pointer.lastIndexOf('/'))
}
