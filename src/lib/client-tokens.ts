import { z } from 'zod'
import { discover } from './jwt.ts'

/** A client of an OpenID Connect issuer that acts in its own name. */
export interface ClientSettings {
  /** Exactly as it stands in the issuer's discovery document. */
  issuer: string
  /** Where tokens are given; undefined to learn it from the discovery document. */
  tokenUrl: string | undefined
  clientId: string
  clientSecret: string
  /** Whom the tokens are for. */
  audience: string
  scopes: readonly string[]
}

/** Access tokens of one client, each used as long as it can be. */
export interface ClientTokens {
  /** A token that is good now. Throws `ClientRefused`, or whatever kept it from being had. */
  get: () => Promise<string>
  /** Forgets a token that was refused. */
  drop: (token: string) => void
}

/** The issuer knows the client not, or does not give it such tokens: another attempt fares no better. */
export class ClientRefused extends Error {
  override name = 'ClientRefused'
}

interface Held {
  token: string
  /** When another one is asked for, and until when this one is used when there is none. */
  refreshAt: number
  endsAt: number
}

const REFRESH_SECONDS = 30
const TIMEOUT_MS = 3000
/** After a failed attempt the token that is still good is used for so long before the next one. */
const PAUSE_MS = 1000

const Answer = z.object({
  access_token: z.string().min(1),
  token_type: z.string().regex(/^bearer$/i),
  expires_in: z.number().positive().optional(),
})

/**
 * Gets access tokens by the client credentials grant (RFC 6749, section 4.4) and keeps each until 30 s
 * before its end, or the last quarter of a short life. All who need one at the same time wait for one
 * request. While the issuer does not answer, the last token is used to its end.
 */
export function clientTokens(settings: ClientSettings, now: () => number = Date.now): ClientTokens {
  let held: Held | undefined
  let asking: Promise<Held> | undefined
  const renew = async () => {
    asking ??= request(settings, now).finally(() => {
      asking = undefined
    })
    const fresh = await asking
    held = fresh
    return fresh.token
  }
  return {
    async get() {
      if (held && now() < held.refreshAt) return held.token
      try {
        return await renew()
      } catch (error) {
        if (!held || now() >= held.endsAt) throw error
        held = { ...held, refreshAt: Math.min(now() + PAUSE_MS, held.endsAt) }
        return held.token
      }
    },
    drop(token) {
      if (held?.token === token) held = undefined
    },
  }
}

async function request(settings: ClientSettings, now: () => number): Promise<Held> {
  const { issuer, tokenUrl, clientId, clientSecret } = settings
  const url = tokenUrl ?? (await discover(issuer)).tokenUrl
  if (url === undefined) throw new Error(`Issuer "${issuer}" does not say where it gives tokens`)
  const askedAt = now()
  const credentials = [clientId, clientSecret].map(encodeURIComponent).join(':')
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/x-www-form-urlencoded',
      accept: 'application/json',
    },
    body: formOf(settings),
    redirect: 'error',
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  if ([400, 401, 403].includes(response.status)) {
    throw new ClientRefused(`Issuer "${issuer}" refused the client with status ${response.status}`)
  }
  if (!response.ok) throw new Error(`Issuer "${issuer}" answered with status ${response.status}`)
  const { access_token: token, expires_in: lifeSeconds = 0 } = Answer.parse(await response.json())
  const lead = Math.min(REFRESH_SECONDS, lifeSeconds / 4)
  return {
    token,
    refreshAt: askedAt + (lifeSeconds - lead) * 1000,
    endsAt: askedAt + lifeSeconds * 1000,
  }
}

/**
 * Issuers differ in how they are told whom a token is for: some take `audience`, others a resource
 * indicator (RFC 8707), which has to be a URI. Each leaves the other's parameter alone.
 */
function formOf({ audience, scopes }: ClientSettings): URLSearchParams {
  return new URLSearchParams({
    grant_type: 'client_credentials',
    scope: scopes.join(' '),
    audience,
    resource: URL.canParse(audience) ? audience : `urn:${audience}`,
  })
}
