import { AppError } from '#lib/errors.ts'
import { isSensitiveKey } from '#lib/portability.ts'
import { findSecret } from '#lib/redact.ts'

/**
 * Throws `secret_refused` with a pointer and the kind when any text below `value` holds a credential,
 * also as `key: value` of an object or in a list under a key; the value itself is never echoed.
 */
export function refuseSecrets(value: unknown): void {
  search(value, ['body'], undefined)
}

function search(value: unknown, path: readonly string[], name: string | undefined): void {
  if (typeof value === 'string') {
    return refuse(name === undefined ? value : `${name}=${value}`, path)
  }
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    if (Array.isArray(value)) {
      search(item, [...path, key], name)
      continue
    }
    refuse(key, path)
    search(item, [...path, key], isSensitiveKey(key) ? 'secret' : key)
  }
}

function refuse(text: string, path: readonly string[]): void {
  const secret = findSecret(text)
  if (!secret) return
  const pointer = path.join('.')
  throw new AppError('secret_refused', `Cannot record ${pointer}: it holds a credential`, {
    details: { pointer, kind: secret.kind },
  })
}
