import { AppError } from '#lib/errors.ts'
import { findSecretIn, portabilityViolation } from '#lib/portability.ts'

/** Throws `secret_refused` with pointer and kind when a part of a body holds a credential. */
export function refuseSecretsIn(body: Record<string, unknown>): void {
  const secret = findSecretIn(body)
  if (secret) throw secretRefused(locOf(secret.pointer), secret.kind)
}

/**
 * Refuses what means nothing elsewhere or must not leave: credentials (`secret_refused`), and paths of
 * the machine it was written on (`invalid_request`). The value is not echoed.
 */
export function requirePortable(body: Record<string, unknown>): void {
  const violation = portabilityViolation(body)
  if (!violation) return
  const loc = locOf(violation.pointer)
  if (violation.kind !== 'local_path') throw secretRefused(loc, violation.kind)
  const message = 'must not hold a path of this machine'
  throw new AppError('invalid_request', `Cannot read the request: ${loc} ${message}`, {
    details: { errors: [{ loc, message }] },
  })
}

/** `body.a.0` for the JSON Pointer `/a/0`. */
function locOf(pointer: string): string {
  return `body${pointer.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')}`
}

function secretRefused(pointer: string, kind: string): AppError {
  return new AppError('secret_refused', `Cannot record ${pointer}: it holds a credential`, {
    details: { pointer, kind },
  })
}
