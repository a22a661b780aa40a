import { lookup } from 'node:dns'
import type { LookupAddress, LookupOptions } from 'node:dns'
import { request as requestHttp } from 'node:http'
import type { IncomingMessage, RequestOptions } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP } from 'node:net'
import type { LookupFunction } from 'node:net'
import { reason } from '#lib/start-error.ts'
import { isCallable } from './networks.ts'
import { hostOf } from './target.ts'
import type { Allowed } from './target.ts'

export interface Message {
  url: string
  headers: Record<string, string>
  body: string
}

export interface SendLimits {
  allowed: Allowed
  /** For the whole exchange. */
  timeoutSeconds: number
  signal?: AbortSignal
}

/** What came of an attempt. */
export interface Attempt {
  /** Null when there was no answer. */
  httpStatus: number | null
  /** Why it does not count as delivered; null when it does. */
  error: string | null
  durationMs: number
  /** What the receiver asked to wait, in seconds. */
  retryAfterSeconds: number | null
}

/** More of an answer is not read. */
const MAX_ANSWER_BYTES = 64 * 1024

/**
 * Posts a message to its receiver once; never throws. Only a status of 2xx counts. Redirects are not
 * followed, what the receiver says is not kept. The name of the host is looked up here and now, and every
 * address that it stands for must be callable: the connection is made to what was looked at.
 */
export async function sendMessage(message: Message, limits: SendLimits): Promise<Attempt> {
  const start = performance.now()
  const timeout = AbortSignal.timeout(limits.timeoutSeconds * 1000)
  const signal = limits.signal ? AbortSignal.any([limits.signal, timeout]) : timeout
  try {
    const response = await post(message, { ...limits, signal })
    const { statusCode = 0, headers } = response
    await drain(response)
    const isDelivered = statusCode >= 200 && statusCode < 300
    return {
      httpStatus: statusCode,
      error: isDelivered ? null : errorOf(statusCode),
      durationMs: Math.round(performance.now() - start),
      retryAfterSeconds: secondsOf(headers['retry-after']),
    }
  } catch (error) {
    const why = timeout.aborted ? `no answer within ${limits.timeoutSeconds} s` : whyNot(error)
    const durationMs = Math.round(performance.now() - start)
    return { httpStatus: null, error: why.slice(0, 200), durationMs, retryAfterSeconds: null }
  }
}

function errorOf(statusCode: number): string {
  const isElsewhere = statusCode >= 300 && statusCode < 400
  return isElsewhere
    ? `answered ${statusCode}; redirects are not followed`
    : `answered ${statusCode}`
}

/** By code: what the system says may name addresses of the inside. */
function whyNot(error: unknown): string {
  const [first = error] = error instanceof AggregateError ? (error.errors as unknown[]) : []
  const { code } = first as NodeJS.ErrnoException
  return code === undefined ? reason(first) : `cannot connect: ${code}`
}

function post(
  { url: address, headers, body }: Message,
  { allowed, signal }: SendLimits,
): Promise<IncomingMessage> {
  const url = new URL(address)
  const host = hostOf(url)
  // An address is connected to without being looked up.
  if (isIP(host) !== 0 && !isCallable(host, allowed.networks)) throw notCallable()
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'content-length': Buffer.byteLength(body) },
    // A connection of its own: one that is kept was looked at long ago.
    agent: false,
    lookup: guardedLookup(allowed),
    ...(signal && { signal }),
  }
  return new Promise((resolve, reject) => {
    const request = send(url, options, resolve)
    request.on('error', reject)
    request.end(body)
  })
}

function guardedLookup({ networks }: Allowed): LookupFunction {
  return (hostname, options: LookupOptions, callback) => {
    lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
      const refused = error ?? refusalOf(addresses, networks)
      const [first] = addresses ?? []
      if (refused || !first) callback(refused ?? notCallable(), '', 0)
      else if (options.all === true) callback(null, addresses)
      else callback(null, first.address, first.family)
    })
  }
}

function refusalOf(addresses: LookupAddress[], networks: Allowed['networks']): Error | undefined {
  return addresses.every(({ address }) => isCallable(address, networks)) ? undefined : notCallable()
}

function notCallable(): Error {
  return new Error('the host leads into a closed network')
}

/** Reads an answer to its end, or as much of it as is allowed, and forgets it. */
async function drain(response: IncomingMessage): Promise<void> {
  let bytes = 0
  for await (const chunk of response) {
    bytes += (chunk as Buffer).length
    if (bytes > MAX_ANSWER_BYTES) return
  }
}

function secondsOf(retryAfter: string | undefined): number | null {
  return retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null
}
