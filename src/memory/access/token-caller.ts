import type { Sql } from '#db/sql.ts'
import type { TokenClaims, VerifyToken } from '#lib/jwt.ts'
import type { Caller, Grant, Sight } from './caller.ts'
import { bearer, keyring, requireReadable } from './keys.ts'
import type { KeySettings } from './keys.ts'
import { policyDecider } from './policy.ts'
import type { Decider, PolicySettings } from './policy.ts'

export interface CallerSettings extends KeySettings {
  /** Verifies access tokens of another issuer; undefined where none is accepted. */
  verifyToken: VerifyToken | undefined
  /** Who decides what people and agents with tokens see; undefined where the token alone does. */
  policy?: PolicySettings | undefined
}

const SIGNED_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * Who a request comes from: the holder of a key, or of an access token where those are accepted. What kind
 * of credential it is shows in its form alone. Once tokens are accepted nobody is let in without either.
 */
export function callers(settings: CallerSettings, sql: Sql): (request: Request) => Promise<Caller> {
  const { verifyToken, policy } = settings
  const decide = policy && policyDecider(sql, policy)
  const byKey = keyring({ ...settings, isOpen: verifyToken === undefined })
  return async (request) => {
    const token = verifyToken && bearer(request)
    if (!verifyToken || token === undefined || !SIGNED_TOKEN.test(token)) return byKey(request)
    requireReadable(settings)
    return callerOf(await verifyToken(token), decide)
  }
}

/**
 * What a token lets its holder do here: its tenant's namespace and all below it, and each namespace that it
 * names with all below; `memory:tenants` stands for every tenant. `memory:read` and `memory:write` say what
 * for, `memory:pii` shows personal data, `memory:service` marks the platform itself.
 */
export function callerOf(claims: TokenClaims, decide?: Decider): Caller {
  const { scopes, tenantId, namespaces } = claims
  const rights = { read: scopes.has('memory:read'), write: scopes.has('memory:write') }
  const roots = [...(tenantId === null ? [] : [`tenant:${tenantId}`]), ...namespaces]
  const grants: Grant[] = roots.flatMap((root) => [
    { prefix: root, exact: true, ...rights },
    { prefix: `${root}:`, ...rights },
  ])
  if (scopes.has('memory:tenants')) grants.push({ prefix: 'tenant:', ...rights })
  const sight = decide && sightOf(claims, decide)
  return {
    label: `iam:${claims.principalType ?? 'principal'}:${claims.subject}`,
    grants,
    service: scopes.has('memory:service'),
    pii: scopes.has('memory:pii'),
    ...(sight && { sight }),
  }
}

/**
 * Where a decision point decides: a service account that acts for others says for whom, the platform itself
 * is not asked about, and about everybody else the decision point is.
 */
function sightOf(claims: TokenClaims, decide: Decider): Sight | undefined {
  const { scopes, principalType, issuer, subject: id, tenantId } = claims
  if (principalType !== 'human' && principalType !== 'agent') {
    if (scopes.has('memory:on-behalf')) return { by: 'request' }
    if (scopes.has('memory:service')) return undefined
  }
  const holder = { issuer, id, kind: principalType ?? 'principal', tenantId }
  return { by: 'policy', ask: (right, names) => decide(holder, right, names) }
}
