import { timingSafeEqual } from 'node:crypto'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { Database } from '#db/sql.ts'
import { selectCredential, updateLastUsed } from './credential.sql.ts'
import { parseKey } from './key.ts'

/** A use is recorded at most this often, so that reading does not turn into writing. */
const USE_REFRESH_SECONDS = 60
const NO_HASH = new Uint8Array(32)

export type RequestTrace = Pick<Ctx, 'requestId' | 'correlationId' | 'traceRunId'>

/**
 * The caller that a bearer credential stands for. Unknown, wrong, revoked and expired keys are refused
 * alike with `invalid_credentials`; a known key of a principal that is suspended or disabled with
 * `principal_not_active`. Nothing is cached, so a revocation holds for the very next request.
 */
export async function authenticate(db: Database, token: string, trace: RequestTrace): Promise<Ctx> {
  const key = parseKey(token)
  const row = key && (await selectCredential(db, key.prefix, USE_REFRESH_SECONDS))
  const matches = timingSafeEqual(row?.secretHash ?? NO_HASH, key?.secretHash ?? NO_HASH)
  if (!row || !matches || !row.live) {
    throw new AppError('invalid_credentials', 'Cannot accept the credential')
  }
  if (row.principalStatus !== 'active') {
    throw new AppError(
      'principal_not_active',
      `Cannot act as principal "${row.principalId}": ${row.principalStatus}`,
      { details: { status: row.principalStatus } },
    )
  }
  if (row.useIsStale) await updateLastUsed(db, row, USE_REFRESH_SECONDS)
  return {
    ...trace,
    tenantId: row.tenantId,
    actorId: row.principalId,
    credentialId: row.keyId,
    permissions: new Set(row.permissions),
    wake: () => {},
    now: () => new Date(),
    signal: new AbortController().signal,
  }
}
