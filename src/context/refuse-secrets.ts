import { AppError } from '#lib/errors.ts'
import { findSecret } from '#lib/redact.ts'

/**
 * Throws `secret_refused` with a pointer and the kind when any text below `value` holds a credential,
 * also as `key: value` of an object; the value itself is never echoed.
 */
export function refuseSecrets(value: unknown, path: readonly string[] = ['body']): void {
  if (typeof value === 'string') return refuse(value, path)
  if (typeof value !== 'object' || value === null) return
  for (const [key, item] of Object.entries(value)) {
    const inner = [...path, key]
    refuse(key, path)
    if (typeof item === 'string' && !Array.isArray(value)) refuse(`${key}=${item}`, inner)
    else refuseSecrets(item, inner)
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
