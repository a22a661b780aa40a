import { isIP } from 'node:net'
import type { BlockList } from 'node:net'
import { AppError } from '#lib/errors.ts'
import { isCallable } from './networks.ts'

/** What the operator allows beyond https to the open internet. */
export interface Allowed {
  /** Networks that may be called although they are not the open internet. */
  networks: BlockList
  /** Hosts that may be called over plain http. */
  httpHosts: ReadonlySet<string>
}

/**
 * The address of a receiver, in one spelling. Throws `invalid_request` for what may not be called, as far
 * as its text tells; where its name leads is looked at each time it is called.
 */
export function targetOf(text: string, allowed: Allowed): string {
  const problem = problemOf(text, allowed)
  if (problem === undefined) return new URL(text).href
  throw new AppError('invalid_request', `Cannot call this address: it ${problem}`, {
    details: { errors: [{ loc: 'body.url', message: problem }] },
  })
}

function problemOf(text: string, { networks, httpHosts }: Allowed): string | undefined {
  if (!URL.canParse(text)) return 'must be a URL'
  const url = new URL(text)
  const host = hostOf(url)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'must be an https URL'
  if (url.protocol === 'http:' && !httpHosts.has(host)) {
    return 'must be an https URL; plain http is only for hosts that the operator has named'
  }
  if (url.username !== '' || url.password !== '') return 'must not hold a user or a password'
  if (url.hash !== '') return 'must not have a fragment'
  if (isIP(host) !== 0 && !isCallable(host, networks)) return 'must not lead into a closed network'
  return undefined
}

/** The host of a URL without the brackets of IPv6 and the last dot of a full name. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '')
}
