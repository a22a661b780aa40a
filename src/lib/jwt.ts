import { createRemoteJWKSet, errors, jwtVerify } from 'jose'
import type { JWTPayload, JWTVerifyGetKey } from 'jose'
import { AppError } from './errors.ts'

/** Whose access tokens are accepted, and as addressed to whom. */
export interface IssuerSettings {
  /** Exactly as it stands in the tokens. */
  issuer: string
  /** Where the issuer's keys are; undefined to learn it from the issuer's discovery document. */
  jwksUrl: string | undefined
  /** Has to stand among the token's audiences, exactly. */
  audience: string
  /** How far the issuer's clock may be off, in seconds. */
  leewaySeconds: number
}

/** What a verified token says, as far as anybody here asks. */
export interface TokenClaims {
  issuer: string
  subject: string
  tenantId: string | null
  scopes: ReadonlySet<string>
  /** Namespaces of memory that the holder may use. */
  namespaces: readonly string[]
  /** What kind of principal the issuer calls the holder. */
  principalType: string | null
}

export type VerifyToken = (token: string) => Promise<TokenClaims>

/** Signatures that only the holder of the private key can make: no shared secrets, no `none`. */
const ALGORITHMS = 'RS256 RS384 RS512 PS256 PS384 PS512 ES256 ES384 ES512 EdDSA Ed25519'.split(' ')
const TIMEOUT_MS = 3000
const KEYS_MAX_AGE_MS = 600_000

/**
 * Verifies access tokens of one OpenID Connect issuer: signature, issuer, audience, times, by RFC 9068 but
 * for its `typ`, which many issuers do not set. Every defect of a token is the same `invalid_credentials`.
 * When the issuer's keys cannot be had the answer is `iam_unavailable`: nobody is let in unverified. Keys
 * are fetched when first needed, again every ten minutes, and at most every 30 s for a key that is unknown.
 */
export function tokenVerifier(settings: IssuerSettings): VerifyToken {
  const { issuer, audience, leewaySeconds } = settings
  let keys: Promise<JWTVerifyGetKey> | undefined
  const keysOf = async () => {
    keys ??= openKeys(settings)
    return await keys.catch((cause: unknown) => {
      keys = undefined
      throw unavailable(cause)
    })
  }
  return async (token) => {
    const getKey = await keysOf()
    try {
      const { payload } = await jwtVerify(token, getKey, {
        issuer,
        audience,
        algorithms: ALGORITHMS,
        clockTolerance: leewaySeconds,
        requiredClaims: ['exp', 'sub'],
      })
      return claimsOf(payload, issuer)
    } catch (error) {
      throw isDefectOfToken(error) ? refused(error) : unavailable(error)
    }
  }
}

async function openKeys({ issuer, jwksUrl }: IssuerSettings): Promise<JWTVerifyGetKey> {
  const url = new URL(jwksUrl ?? (await discover(issuer)).keysUrl)
  return createRemoteJWKSet(url, {
    timeoutDuration: TIMEOUT_MS,
    cacheMaxAge: KEYS_MAX_AGE_MS,
    cooldownDuration: 30_000,
  })
}

/** Where an issuer has what. */
export interface Discovered {
  keysUrl: string
  tokenUrl: string | undefined
  /** Where a client may register itself. */
  registrationUrl: string | undefined
}

/** Reads the discovery document. Source: OpenID Connect Discovery 1.0, section 4. */
export async function discover(issuer: string): Promise<Discovered> {
  const url = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`
  const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) })
  const document = (await response.json()) as Record<string, unknown>
  const { jwks_uri: keysUrl, issuer: named } = document
  if (!response.ok || typeof keysUrl !== 'string' || named !== issuer) {
    throw new Error(`The discovery document at ${url} is not that of the issuer`)
  }
  const urlOf = (name: string) => (typeof document[name] === 'string' ? document[name] : undefined)
  return {
    keysUrl,
    tokenUrl: urlOf('token_endpoint'),
    registrationUrl: urlOf('registration_endpoint'),
  }
}

function claimsOf(payload: JWTPayload, issuer: string): TokenClaims {
  const text = (name: string) => (typeof payload[name] === 'string' ? payload[name] : null)
  const scope = payload['scope'] ?? payload['scp']
  const scopes = typeof scope === 'string' ? scope.split(' ') : textsIn(scope)
  return {
    issuer,
    subject: payload.sub ?? '',
    tenantId: text('tenant_id'),
    scopes: new Set(scopes),
    namespaces: textsIn(payload['memory_namespaces']),
    principalType: text('principal_type'),
  }
}

function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : []
}

const DEFECTS = [
  errors.JWTClaimValidationFailed,
  errors.JWTExpired,
  errors.JWTInvalid,
  errors.JWSInvalid,
  errors.JWSSignatureVerificationFailed,
  errors.JOSEAlgNotAllowed,
  errors.JOSENotSupported,
  errors.JWKSNoMatchingKey,
  errors.JWKSMultipleMatchingKeys,
]

function isDefectOfToken(error: unknown): boolean {
  return DEFECTS.some((kind) => error instanceof kind)
}

function refused(cause: unknown): AppError {
  return new AppError('invalid_credentials', 'Cannot accept the credential', { cause })
}

function unavailable(cause: unknown): AppError {
  return new AppError('iam_unavailable', 'Cannot verify the token: its issuer does not answer', {
    cause,
    retryAfterSeconds: 1,
  })
}
