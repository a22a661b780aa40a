import { policyDecider } from '#authz/policy-decider.ts'
import type { Decide } from '#authz/policy-decider.ts'
import { decisionPoint } from '#authz/decision-point.ts'
import type { DecisionPoint } from '#authz/decision-point.ts'
import { shadowDecider } from '#authz/shadow-decider.ts'
import type { Database } from '#db/sql.ts'
import type { Metrics } from '#observe/metrics.ts'
import { tokenIdentifier } from '#iam/identify-token.ts'
import { tokenVerifier } from '#lib/jwt.ts'
import type { VerifyToken } from '#lib/jwt.ts'
import { clientTokens } from '#lib/client-tokens.ts'
import type { ClientTokens } from '#lib/client-tokens.ts'
import type { Log } from '#lib/log.ts'
import type { PolicySettings, SearchPolicy } from '#memory/access/policy.ts'
import { StartError } from '#lib/start-error.ts'
import type { Config } from './config.ts'
import { shadowMeter } from './meters.ts'

/** Who is let in by an access token of another issuer; undefined where none is accepted. */
export function controlPlaneTokens(config: Config, db: Database) {
  if (!config.CP_IAM_ENABLED) return undefined
  const verify = tokenVerifier({
    issuer: required(config.CP_IAM_ISSUER, 'CP_IAM_ISSUER'),
    jwksUrl: config.CP_IAM_JWKS_URL,
    audience: config.CP_IAM_AUDIENCE,
    leewaySeconds: config.CP_IAM_LEEWAY_SECONDS,
  })
  const { CP_IAM_BINDING_CACHE_SECONDS: freshSeconds } = config
  const staleSeconds = Math.max(freshSeconds, config.CP_IAM_BINDING_STALE_SECONDS)
  return tokenIdentifier({ db, verify, bindings: { freshSeconds, staleSeconds } })
}

/** The same for the memory service, which takes everything it has to know from the token. */
export function memoryTokens(config: Config): VerifyToken | undefined {
  if (!config.CB_IAM_ENABLED) return undefined
  return tokenVerifier({
    issuer: required(config.CB_IAM_ISSUER, 'CB_IAM_ISSUER'),
    jwksUrl: config.CB_IAM_JWKS_URL,
    audience: config.CB_IAM_AUDIENCE,
    leewaySeconds: config.CB_IAM_LEEWAY_SECONDS,
  })
}

/** Who decides what people and agents see in memory; undefined when their tokens alone do. */
export function memoryPolicy(config: Config): PolicySettings | undefined {
  if (!config.CB_POLICY_ENABLED) return undefined
  if (!config.CB_IAM_ENABLED) {
    throw new StartError(
      'Cannot start: CB_POLICY_ENABLED is true, which is about access tokens, but CB_IAM_ENABLED is false',
    )
  }
  const point = decisionPoint({
    url: config.CB_POLICY_URL,
    apiKey: config.CB_POLICY_API_KEY,
    timeoutSeconds: config.CB_POLICY_TIMEOUT,
  })
  return { search: searchAt(point), cacheSeconds: config.CB_POLICY_CACHE_TTL }
}

/** How memory puts its questions to a decision point. */
export function searchAt({ search }: Pick<DecisionPoint, 'search'>): SearchPolicy {
  return async ({ issuer, id, kind, tenantId: own }, { action, type, tenantId, candidates }) => {
    const properties = { issuer, principalId: id, ...(own !== null && { tenantId: own }) }
    const subject = { type: kind, id, properties }
    return await search(subject, action, { type, tenantId, candidates: [...candidates] })
  }
}

/** Who may call what memory leaves to the platform, beside service credentials; null for no such limit. */
export function coreIdentities(config: Config): readonly string[] | null {
  const { CB_CORE_ONLY: isOnly, CB_CORE_IDENTITIES: listed } = config
  if (listed === undefined) return isOnly ? [] : null
  return wordsIn(listed)
}

/**
 * Access tokens with which the control plane shows itself to memory; undefined where its static key is
 * enough. `isOwn` says that memory runs in this process.
 */
export function contextTokens(config: Config, isOwn = false): ClientTokens | undefined {
  const { CP_CONTEXT_AUTH: auth, CP_IAM_CLIENT_ID: clientId } = config
  if (auth === 'api_key' || (auth === 'auto' && (isOwn || clientId === undefined))) return undefined
  const isDecidedElsewhere = config.CP_AUTHZ_MODE === 'policy'
  const scopes = wordsIn(config.CP_CONTEXT_IAM_SCOPES)
  return clientTokens({
    issuer: needed(config.CP_IAM_ISSUER, 'CP_IAM_ISSUER'),
    tokenUrl: config.CP_IAM_TOKEN_URL,
    clientId: needed(clientId, 'CP_IAM_CLIENT_ID'),
    clientSecret: needed(config.CP_IAM_CLIENT_SECRET, 'CP_IAM_CLIENT_SECRET'),
    audience: config.CP_CONTEXT_IAM_AUDIENCE,
    scopes: [...new Set([...scopes, ...(isDecidedElsewhere ? ['memory:on-behalf'] : [])])],
  })
}

/** Who decides about holders of access tokens; undefined when their bindings do, unwatched. */
export function deciderOf(
  { config, metrics, log }: { config: Config; metrics: Metrics; log: Log },
  db: Database,
): Decide | undefined {
  const { CP_AUTHZ_MODE: mode } = config
  if (mode === 'local') return undefined
  if (!config.CP_IAM_ENABLED) {
    throw new StartError(
      `Cannot start: CP_AUTHZ_MODE is ${mode}, which is about access tokens, but CP_IAM_ENABLED is false`,
    )
  }
  const point = decisionPoint({
    url: config.CP_POLICY_BASE_URL,
    apiKey: config.CP_POLICY_API_KEY,
    timeoutSeconds: config.CP_POLICY_TIMEOUT_SECONDS,
  })
  const asking = { db, point, cacheSeconds: config.CP_POLICY_CACHE_SECONDS }
  if (mode === 'policy') return policyDecider(asking)
  return shadowDecider({ ...asking, counts: shadowMeter(metrics, log) })
}

function wordsIn(text: string): string[] {
  return text.split(/[\s,]+/)
}

function needed(value: string | undefined, name: string): string {
  if (value !== undefined) return value
  throw new StartError(`Cannot start: ${name} is not set, but memory is to be shown access tokens`)
}

function required(value: string | undefined, name: string): string {
  if (value !== undefined) return value
  throw new StartError(`Cannot start: ${name} is not set, but access tokens are to be accepted`)
}
