import { timingSafeEqual } from 'node:crypto'
import { withinWorkspace } from '#contract/permissions.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { Database } from '#db/sql.ts'
import { selectCredential, updateLastUsed } from './credential.sql.ts'
import type { CredentialRow } from './credential.sql.ts'
import { isBreakGlass, parseKey } from './key.ts'

/** A use is recorded at most this often, so that reading does not turn into writing. */
const USE_REFRESH_SECONDS = 60
const NO_HASH = new Uint8Array(32)

export type RequestTrace = Pick<Ctx, 'requestId' | 'correlationId' | 'traceRunId' | 'traceparent'>

/** Which keys are accepted. */
export interface KeyRules {
  localKeys: boolean
  /** Longest life of a key made from the shell of the host; 0 when none is accepted. */
  breakGlassSeconds: number
}

const EVERY_KEY: KeyRules = { localKeys: true, breakGlassSeconds: Number.POSITIVE_INFINITY }

/**
 * The caller that a local key stands for. Unknown, wrong, revoked and expired keys are refused alike with
 * `invalid_credentials`; a known key of a principal that is suspended or disabled with
 * `principal_not_active`. Nothing is cached, so a revocation holds for the very next request.
 */
export async function authenticate(
  db: Database,
  token: string,
  trace: RequestTrace,
  rules: KeyRules = EVERY_KEY,
): Promise<Ctx> {
  const row = await lookUp(db, token)
  if (!row?.live || !isAccepted(row, rules)) throw invalidCredentials()
  if (row.principalStatus !== 'active') throw notActive(row)
  if (row.useIsStale) await updateLastUsed(db, row, USE_REFRESH_SECONDS)
  return {
    ...trace,
    tenantId: row.tenantId,
    actorId: row.principalId,
    credentialId: row.keyId,
    ...rightsOf(row),
    wake: () => {},
    now: () => new Date(),
    signal: new AbortController().signal,
  }
}

/** The row of a key whose secret matches, compared in the same time whether or not there is one. */
async function lookUp(db: Database, token: string): Promise<CredentialRow | undefined> {
  const key = parseKey(token)
  const row = key && (await selectCredential(db, key.prefix, USE_REFRESH_SECONDS))
  const matches = timingSafeEqual(row?.secretHash ?? NO_HASH, key?.secretHash ?? NO_HASH)
  return matches ? row : undefined
}

/** What a credential allows, and how far it reaches. */
export function rightsOf(credential: {
  permissions: readonly string[]
  workspaceId: string | null
}): Pick<Ctx, 'permissions' | 'reach'> {
  const { permissions, workspaceId } = credential
  if (workspaceId === null) return { permissions: new Set(permissions) }
  return {
    permissions: new Set(withinWorkspace(permissions)),
    reach: { kind: 'subtree', workspaceId },
  }
}

function isAccepted(row: CredentialRow, { localKeys, breakGlassSeconds }: KeyRules): boolean {
  return isBreakGlass(row) ? row.ageSeconds < breakGlassSeconds : localKeys
}

/** Says nothing about what is wrong with the credential. */
export function invalidCredentials(): AppError {
  return new AppError('invalid_credentials', 'Cannot accept the credential')
}

export function notActive({
  principalId,
  principalStatus,
}: Pick<CredentialRow, 'principalId' | 'principalStatus'>): AppError {
  return new AppError(
    'principal_not_active',
    `Cannot act as principal "${principalId}": ${principalStatus}`,
    { details: { status: principalStatus } },
  )
}
