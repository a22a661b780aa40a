import type { z } from 'zod'
import type { Route, RouteReply } from '#contract/route.ts'
import { AppError, ERROR_CODES } from '#lib/errors.ts'

export interface ClientOptions {
  url: string
  token: string
  fetch?: typeof fetch
  /** Sent with every call, such as `X-Run-Id`. */
  headers?: Record<string, string>
}

export interface CallInput<R extends Route> {
  params?: z.input<R['params']>
  query?: z.input<R['query']>
  body?: z.input<R['body']>
  /** The body of a route of bytes; a stream is sent as it is read. */
  bytes?: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>
  /** Sent as `Idempotency-Key`. */
  idempotencyKey?: string
  /** Version for `If-Match`, on routes that need it. */
  ifMatch?: number
  headers?: Record<string, string>
  signal?: AbortSignal
}

/** No answer came: refused, cut, timed out, or something that is not this API answered. */
export class TransportError extends Error {
  override name = 'TransportError'
  /** HTTP status when there was an answer, but not one of this API. */
  readonly status: number | undefined

  constructor(message: string, options: { cause?: unknown; status?: number } = {}) {
    super(message, { cause: options.cause })
    this.status = options.status
  }
}

/**
 * Calls one route of the contract and checks the reply; what a newer server added is let through. The
 * CLI, the MCP server, the runner, the control plane itself (towards memory) and the tests all use this.
 *
 * Throws the server's refusal as `AppError` (its `details` gain `status`), or `TransportError`.
 */
export async function call<R extends Route>(
  options: ClientOptions,
  route: R,
  input: CallInput<R> = {},
): Promise<RouteReply<R>> {
  const response = await send(options, route, input)
  const text = await response.text().catch((cause: unknown) => {
    throw new TransportError(`Cannot read the answer of ${options.url}`, { cause })
  })
  const body = parse(text)
  if (!response.ok) throw refusal(response, body)
  return readReply(options, route.reply, { body, status: response.status }) as RouteReply<R>
}

/** What came, checked against the contract; what a newer server added is let through. */
export function readReply<T extends z.ZodType>(
  { url }: ClientOptions,
  schema: T,
  { body, status }: { body: unknown; status?: number },
): z.output<T> {
  const result = schema.safeParse(body)
  if (result.success) return result.data
  if (!result.error.issues.every(({ code }) => code === 'unrecognized_keys')) {
    throw new TransportError(`Cannot read the answer of ${url}: it breaks the contract`, {
      cause: result.error,
      ...(status !== undefined && { status }),
    })
  }
  return body as z.output<T>
}

/** The same call, answered with the raw response: for content, streams and tests of the wire. */
export async function send<R extends Route>(
  options: ClientOptions,
  route: R,
  input: CallInput<R> = {},
): Promise<Response> {
  try {
    return await (options.fetch ?? fetch)(urlOf(options.url, route, input), {
      method: route.method,
      headers: headersOf(options, route, input),
      ...(input.signal && { signal: input.signal }),
      ...bodyOf(route, input),
    })
  } catch (cause) {
    if (input.signal?.aborted) throw cause
    throw new TransportError(`Cannot reach ${options.url}`, { cause })
  }
}

function bodyOf<R extends Route>(route: R, { body, bytes }: CallInput<R>): RequestInit {
  if (!takesBody(route)) return {}
  if (!route.bytes) return { body: JSON.stringify(body ?? {}) }
  return { body: bytes ?? '', duplex: 'half' }
}

function takesBody({ method }: Route): boolean {
  return method !== 'GET' && method !== 'DELETE'
}

export function headersOf<R extends Route>(options: ClientOptions, route: R, input: CallInput<R>) {
  return {
    ...(options.token && { authorization: `Bearer ${options.token}` }),
    ...(takesBody(route) && {
      'content-type': route.bytes ? 'application/octet-stream' : 'application/json',
    }),
    ...(input.idempotencyKey && { 'idempotency-key': input.idempotencyKey }),
    ...(route.ifMatch && input.ifMatch && { 'if-match': `"${route.ifMatch}-${input.ifMatch}"` }),
    ...options.headers,
    ...input.headers,
  }
}

export function urlOf<R extends Route>(base: string, route: R, input: CallInput<R>): URL {
  const params = (input.params ?? {}) as Record<string, string>
  const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? ''),
  )
  const url = new URL(path, base)
  const query = (input.query ?? {}) as Record<string, Scalar | Scalar[] | undefined>
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value].flat()) {
      if (one !== undefined) url.searchParams.append(name, String(one))
    }
  }
  return url
}

export function parse(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return undefined
  }
}

type Scalar = string | number | boolean

interface Problem {
  code?: string
  message?: string
  details?: Record<string, unknown>
}

/** `{error: {...}}` of the control plane, `{detail, code, ...}` of the memory service. */
function problemOf(body: unknown): Problem | undefined {
  const { error, detail, code, ...details } = (body ?? {}) as Record<string, unknown>
  if (typeof error === 'object' && error !== null) return error
  if (typeof detail !== 'string') return undefined
  return { message: detail, details, ...(typeof code === 'string' && { code }) }
}

/** The error that an answer without success stands for. */
export function refusal(response: Response, body: unknown): Error {
  const problem = problemOf(body)
  const code = ERROR_CODES.find((known) => known === problem?.code)
  const { status } = response
  if (!code)
    return new TransportError(`Cannot understand the refusal ${status}`, { status, cause: body })
  const details = { ...problem?.details, status }
  const retryAfterSeconds = Number(response.headers.get('retry-after') ?? Number.NaN)
  return new AppError(code, problem?.message ?? code, {
    details,
    ...(Number.isFinite(retryAfterSeconds) && { retryAfterSeconds }),
  })
}
