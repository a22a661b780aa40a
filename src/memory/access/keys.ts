import { timingSafeEqual } from 'node:crypto'
import { z } from 'zod'
import { AppError } from '#lib/errors.ts'
import { sha256 } from '#lib/id.ts'
import { LOCAL_LABEL } from './caller.ts'
import type { Caller } from './caller.ts'

export interface KeySettings {
  /** One key with full access. */
  serverApiKey: string | undefined
  /** Keys with full access that also see personal data unmasked. */
  piiKeys?: readonly string[]
  /** JSON list of further keys with grants. */
  apiKeys: string | undefined
  /** Whether everybody is let in where no key is configured; true unless said otherwise. */
  isOpen?: boolean
}

const Registry = z
  .array(
    z.strictObject({
      key: z.string().min(1),
      name: z.string().min(1).max(128).optional(),
      grants: z
        .array(
          z.strictObject({
            prefix: z.string().max(200),
            read: z.boolean().default(true),
            write: z.boolean().default(false),
          }),
        )
        .min(1),
      pii: z.boolean().default(false),
      service: z.boolean().default(false),
    }),
  )
  .min(1)

interface Credential {
  digest: Buffer
  caller: Caller
}

/**
 * Who a request comes from. Without any key configured everybody is the local user with full access.
 * Every defect of a credential is the same `invalid_credentials`. A registry that cannot be read fails
 * every request (`internal_error`) instead of letting half of the keys work.
 */
export function keyring(settings: KeySettings): (request: Request) => Caller {
  const { serverApiKey, apiKeys, piiKeys = [], isOpen = true } = settings
  const registry = apiKeys === undefined ? [] : readRegistry(apiKeys)
  const full = { grants: 'all', service: true } as const
  const known: Credential[] = [
    ...piiKeys.map((key) => credentialOf(key, { ...full, label: 'pii-full', pii: true })),
    ...(serverApiKey === undefined
      ? []
      : [credentialOf(serverApiKey, { ...full, label: 'base', pii: false })]),
    ...(registry ?? []),
  ]
  if (isOpen && known.length === 0 && apiKeys === undefined) return () => LOCAL
  return (request) => {
    const given = bearer(request)
    if (registry === undefined) throw new Error(UNREADABLE)
    const candidate = digest(given ?? '')
    let found: Caller | undefined
    for (const credential of known) {
      if (timingSafeEqual(candidate, credential.digest)) found ??= credential.caller
    }
    if (given === undefined || !found) {
      throw new AppError('invalid_credentials', 'Cannot act: the credential is not valid')
    }
    return found
  }
}

/** Whether the registry of keys can be read: throws what every request then fails with. */
export function requireReadable({ apiKeys }: KeySettings): void {
  if (apiKeys !== undefined && readRegistry(apiKeys) === undefined) throw new Error(UNREADABLE)
}

const UNREADABLE = 'CB_API_KEYS is not a JSON list of keys with grants'
const LOCAL: Caller = { label: LOCAL_LABEL, grants: 'all', service: true, pii: false }

function credentialOf(key: string, caller: Caller): Credential {
  return { digest: digest(key), caller }
}

function readRegistry(text: string): Credential[] | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  const result = Registry.safeParse(json)
  return result.data?.map(({ key, name, grants, service, pii }, index) =>
    credentialOf(key, {
      label: name ?? `key-${index}`,
      grants,
      service: service || grants.some(({ prefix, write }) => prefix === '' && write),
      pii,
    }),
  )
}

/** The credential of a request, undefined when it has none of a credential's form. */
export function bearer(request: Request): string | undefined {
  return /^Bearer +([\x21-\x7e]{1,4096}) *$/i.exec(request.headers.get('authorization') ?? '')?.[1]
}

function digest(text: string): Buffer {
  return Buffer.from(sha256(text), 'hex')
}
