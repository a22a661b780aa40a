import { createHmac, randomBytes } from 'node:crypto'

const SECRET_BYTES = 32
const PREFIX = 'whsec_'

/** A new secret; 256 bits, as long as what it signs with. */
export function newSecret(): Buffer {
  return randomBytes(SECRET_BYTES)
}

/** How a secret is written for its receiver. Source: Standard Webhooks 1.0, "Signature scheme". */
export function secretText(secret: Uint8Array): string {
  return PREFIX + Buffer.from(secret).toString('base64')
}

export interface Signed {
  /** The same for every attempt at the same message: what tells repeats apart. */
  id: string
  /** Seconds since 1970. */
  timestamp: number
  body: string
}

/**
 * The headers that let a receiver check where a message comes from and when it was sent, one signature for
 * each secret that is valid: `v1,` and the base64 of HMAC-SHA256 over `id.timestamp.body`. Source: Standard
 * Webhooks 1.0, so its published libraries verify them.
 */
export function signatureHeaders(
  secrets: readonly Uint8Array[],
  { id, timestamp, body }: Signed,
): Record<string, string> {
  const signatures = secrets.map((secret) => {
    const hmac = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`)
    return `v1,${hmac.digest('base64')}`
  })
  return {
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    'webhook-signature': signatures.join(' '),
  }
}
