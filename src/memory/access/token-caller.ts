import type { TokenClaims, VerifyToken } from '#lib/jwt.ts'
import type { Caller, Grant } from './caller.ts'
import { bearer, keyring } from './keys.ts'
import type { KeySettings } from './keys.ts'

const SIGNED_TOKEN = /^[\w-]+\.[\w-]+\.[\w-]+$/

/**
 * Who a request comes from: the holder of a key, or of an access token where those are accepted. What kind
 * of credential it is shows in its form alone. Once tokens are accepted nobody is let in without either.
 */
export function callers(
  settings: KeySettings & { verifyToken: VerifyToken | undefined },
): (request: Request) => Promise<Caller> {
  const { verifyToken } = settings
  const byKey = keyring({ ...settings, isOpen: verifyToken === undefined })
  return async (request) => {
    const token = verifyToken && bearer(request)
    if (!verifyToken || token === undefined || !SIGNED_TOKEN.test(token)) return byKey(request)
    return callerOf(await verifyToken(token))
  }
}

/**
 * What a token lets its holder do here: its tenant's namespace and all below it, and each namespace that it
 * names with all below; `memory:tenants` stands for every tenant. `memory:read` and `memory:write` say what
 * for, `memory:service` marks the platform itself.
 */
export function callerOf(claims: TokenClaims): Caller {
  const { scopes, tenantId, namespaces } = claims
  const rights = { read: scopes.has('memory:read'), write: scopes.has('memory:write') }
  const roots = [...(tenantId === null ? [] : [`tenant:${tenantId}`]), ...namespaces]
  const grants: Grant[] = roots.flatMap((root) => [
    { prefix: root, exact: true, ...rights },
    { prefix: `${root}:`, ...rights },
  ])
  if (scopes.has('memory:tenants')) grants.push({ prefix: 'tenant:', ...rights })
  return {
    label: `iam:${claims.principalType ?? 'principal'}:${claims.subject}`,
    grants,
    service: scopes.has('memory:service'),
  }
}
