import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { after } from 'node:test'
import { Provider } from 'oidc-provider'
import type { JWK } from 'oidc-provider'

/** What the issuer says about the holder of a client, beside its id. */
export type ExtraClaims = Record<string, string | readonly string[]>

export interface Issuer {
  url: string
  /** An access token as the client would get it: by its credentials, for one audience. */
  token: (clientId: string, wish: { audience: string; scope: string }) => Promise<string>
  /** What the tokens of a client say from now on. */
  claims: Map<string, ExtraClaims>
  /** How often somebody asked for the public keys. */
  keyRequests: () => number
  /** How often somebody asked for a token. */
  tokenRequests: () => number
  close: () => Promise<void>
}

/** Of every client of the issuer. */
export const CLIENT_SECRET = 'the-secret-of-every-client-of-the-tests'
const SCOPES =
  'control-plane:read control-plane:write control-plane:admin other:read ' +
  'memory:read memory:write memory:tenants memory:service memory:on-behalf'

/**
 * A real OpenID Connect provider on a port of this machine, which issues signed access tokens for the client
 * credentials of these clients; a client's id is the subject of its tokens. With a registration token its
 * holder may add clients. Closed with the test, or with the file without one.
 */
export async function startIssuer(
  clientIds: readonly string[],
  options: { t?: TestContext; port?: number; ttlSeconds?: number; registrationToken?: string } = {},
): Promise<Issuer> {
  const claims = new Map<string, ExtraClaims>()
  const server = createServer()
  server.listen(options.port ?? 0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const handle = providerAt(url, {
    ...options,
    clientIds,
    claims,
    ttlSeconds: options.ttlSeconds ?? 300,
  })
  let keyRequests = 0
  let tokenRequests = 0
  server.on('request', (request, response) => {
    if (request.url === '/jwks') keyRequests += 1
    if (request.url === '/token') tokenRequests += 1
    void handle(request, response)
  })
  const close = async () => {
    if (!server.listening) return
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  if (options.t) options.t.after(close)
  else after(close)
  return {
    url,
    claims,
    close,
    keyRequests: () => keyRequests,
    tokenRequests: () => tokenRequests,
    token: askToken(url),
  }
}

function providerAt(
  url: string,
  given: {
    clientIds: readonly string[]
    claims: Map<string, ExtraClaims>
    ttlSeconds: number
    registrationToken?: string
  },
) {
  const { clientIds, claims, ttlSeconds, registrationToken } = given
  const provider = new Provider(url, {
    clients: clientIds.map((client_id) => ({
      client_id,
      client_secret: CLIENT_SECRET,
      grant_types: ['client_credentials'],
      redirect_uris: [],
      response_types: [],
    })),
    scopes: SCOPES.split(' '),
    jwks: { keys: [newSigningKey()] },
    ttl: { ClientCredentials: ttlSeconds },
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      ...(registrationToken && {
        registration: { enabled: true, initialAccessToken: registrationToken },
      }),
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_ctx, resource) => ({
          scope: SCOPES,
          audience: resource.replace(/^urn:/, ''),
          accessTokenFormat: 'jwt',
          accessTokenTTL: ttlSeconds,
        }),
      },
    },
    extraTokenClaims: (_ctx, token) => claims.get(token.clientId ?? ''),
  })
  return provider.callback()
}

function newSigningKey() {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const { kty, n, e, d, p, q, dp, dq, qi } = privateKey.export({ format: 'jwk' })
  return { kty, n, e, d, p, q, dp, dq, qi, use: 'sig', alg: 'RS256', kid: randomUUID() } as JWK
}

function askToken(url: string): Issuer['token'] {
  return async (clientId, { audience, scope }) => {
    const response = await fetch(`${url}/token`, {
      method: 'POST',
      headers: {
        authorization: `Basic ${Buffer.from(`${clientId}:${CLIENT_SECRET}`).toString('base64')}`,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        // A resource indicator is a URI; the provider turns it into the plain audience.
        resource: `urn:${audience}`,
        scope,
      }),
    })
    const answer = (await response.json()) as { access_token?: string }
    if (answer.access_token === undefined) throw new Error(JSON.stringify(answer))
    return answer.access_token
  }
}
