import { z } from 'zod'
import { discover } from '#lib/jwt.ts'
import { reason } from '#lib/start-error.ts'
import { CliError } from './cli-error.ts'

const Registered = z.object({ client_id: z.string().min(1), client_secret: z.string().min(16) })
const TIMEOUT_MS = 10_000

/** A client may get tokens for itself, and is no way for people to log in. */
const METADATA = {
  client_name: 'Strata control plane',
  grant_types: ['client_credentials'],
  response_types: [],
  redirect_uris: [],
  token_endpoint_auth_method: 'client_secret_basic',
}

export interface Wish {
  /** What the issuer lets register clients; undefined where anybody may. */
  initialAccessToken: string | undefined
  signal: AbortSignal
}

/**
 * A new confidential client of the issuer for the client credentials grant, by OAuth 2.0 Dynamic Client
 * Registration (RFC 7591, section 3). Throws `CliError` when the issuer has no registration, does not
 * answer, or refuses.
 */
export async function registerClient(
  issuer: string,
  wish: Wish,
): Promise<{ id: string; secret: string }> {
  const registrationUrl = await endpointOf(issuer)
  try {
    const response = await fetch(registrationUrl, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(wish.initialAccessToken && { authorization: `Bearer ${wish.initialAccessToken}` }),
      },
      body: JSON.stringify(METADATA),
      redirect: 'error',
      signal: AbortSignal.any([wish.signal, AbortSignal.timeout(TIMEOUT_MS)]),
    })
    const answer: unknown = await response.json()
    if (!response.ok) throw new Error(`it answered ${response.status} ${errorOf(answer)}`)
    const { client_id: id, client_secret: secret } = Registered.parse(answer)
    return { id, secret }
  } catch (error) {
    throw new CliError(`Cannot register at ${issuer}: ${reason(error)}`, { cause: error })
  }
}

async function endpointOf(issuer: string): Promise<string> {
  let found: string | undefined
  try {
    found = (await discover(issuer)).registrationUrl
  } catch (error) {
    throw new CliError(`Cannot register at ${issuer}: ${reason(error)}`, { cause: error })
  }
  if (found !== undefined) return found
  throw new CliError(`Cannot register at ${issuer}: it names no registration endpoint`, {
    hint: 'make a client for the client credentials grant by its own means, and write the settings yourself',
  })
}

/** The code of RFC 7591, section 3.2.2; the rest of the answer is not ours to show. */
function errorOf(answer: unknown): string {
  const { data } = z.object({ error: z.string().max(100) }).safeParse(answer)
  return data?.error ?? ''
}
