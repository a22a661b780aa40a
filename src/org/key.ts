import { createHash, randomBytes } from 'node:crypto'

/** A local credential. The prefix is public and finds the row; only the hash of the secret is kept. */
export interface NewKey {
  prefix: string
  secretHash: Buffer
  /** `cp_<prefix>_<secret>`: shown once and never stored. A break-glass prefix begins with `bg`. */
  text: string
}

const KEY = /^cp_((?:bg)?[0-9a-f]{12})_([A-Za-z0-9_-]{43})$/

/** No hexadecimal digit, so no ordinary prefix begins like this. */
const BREAK_GLASS = 'bg'

export function isBreakGlass({ prefix }: { prefix: string }): boolean {
  return prefix.startsWith(BREAK_GLASS)
}

/** Makes a key with a secret of 256 random bits, so that a plain hash of it cannot be searched. */
export function newKey(kind: 'ordinary' | 'break-glass' = 'ordinary'): NewKey {
  const prefix = `${kind === 'break-glass' ? BREAK_GLASS : ''}${randomBytes(6).toString('hex')}`
  const secret = randomBytes(32).toString('base64url')
  return { prefix, secretHash: hashSecret(secret), text: `cp_${prefix}_${secret}` }
}

/** The parts of a key, or undefined when the text does not have the form of one. */
export function parseKey(text: string): { prefix: string; secretHash: Buffer } | undefined {
  const [, prefix, secret] = KEY.exec(text) ?? []
  if (prefix === undefined || secret === undefined) return undefined
  return { prefix, secretHash: hashSecret(secret) }
}

function hashSecret(secret: string): Buffer {
  return createHash('sha256').update(secret).digest()
}
