import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { TokenClaims, VerifyToken } from '#lib/jwt.ts'
import { invalidCredentials, notActive, rightsOf } from '#org/authenticate.ts'
import type { RequestTrace } from '#org/authenticate.ts'
import { selectBoundIdentity } from './binding.sql.ts'
import type { BoundIdentity } from './binding.sql.ts'
import { readThrough } from '#lib/read-through.ts'
import type { CacheTimes } from '#lib/read-through.ts'
import { withinScopes } from './scope.ts'

export interface TokenOptions {
  db: Database
  verify: VerifyToken
  /** How long a binding is believed without looking. */
  bindings: CacheTimes
  now?: () => number
}

/** Somebody who came with an access token: a caller, and what its token and its kind allow at most. */
export interface TokenCaller extends Ctx {
  readonly iam: NonNullable<Ctx['iam']>
}

/**
 * Finds the caller behind an access token. Bad tokens and identities that nobody bound are refused alike
 * with `invalid_credentials`; a token without a scope of ours with `scope_not_granted`. The scopes narrow
 * what the binding permits, they never widen it. A binding is believed for a while: what ends it holds for
 * reads after that while, and for writes at once (see `confirmActor`).
 */
export function tokenIdentifier(
  options: TokenOptions,
): (token: string, trace: RequestTrace) => Promise<TokenCaller> {
  const { db, verify, bindings, now = Date.now } = options
  const cached = readThrough<BoundIdentity>(bindings, now)
  return async (token, trace) => {
    const claims = await verify(token)
    const { issuer, subject } = claims
    const identity = await cached(`${issuer} ${subject}`, () =>
      selectBoundIdentity(db, { issuer, subject }),
    )
    if (!identity || identity.status !== 'active' || !isOfTenant(identity, claims)) {
      throw invalidCredentials()
    }
    if (identity.principalStatus !== 'active') throw notActive(identity)
    return callerOf(identity, claims, trace)
  }
}

function isOfTenant({ iamTenantId }: BoundIdentity, { tenantId }: TokenClaims): boolean {
  return iamTenantId === null || iamTenantId === tenantId
}

function callerOf(identity: BoundIdentity, claims: TokenClaims, trace: RequestTrace): TokenCaller {
  const { tenantId, principalId, bindingId, principalKind } = identity
  const rights = rightsOf(identity)
  return {
    ...trace,
    tenantId,
    actorId: principalId,
    credentialId: null,
    ...rights,
    permissions: withinScopes(claims.scopes, rights.permissions),
    iam: {
      bindingId,
      issuer: claims.issuer,
      principalId: claims.subject,
      principalKind,
      scopes: claims.scopes,
    },
    wake: () => {},
    now: () => new Date(),
    signal: new AbortController().signal,
  }
}
