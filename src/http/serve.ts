import type { Context, Hono } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { randomUUID } from 'node:crypto'
import type { Content } from '#contract/content.ts'
import type { Route, RouteInput, RouteReply } from '#contract/route.ts'
import { AppError } from '#lib/errors.ts'
import { parseTraceparent } from '#lib/traceparent.ts'
import { namesTag, sendContent } from './content.ts'
import { bodyChunks, honoPath, readInput } from './input.ts'
import type { BodyLimits, Rename } from './input.ts'
import { note } from './served.ts'
import type { Identity } from './served.ts'

/** Correlation of one request; every part is safe to log and to echo. */
export interface Trace {
  requestId: string
  correlationId: string
  /** The caller's `X-Run-Id`, forwarded to whatever we call. */
  traceRunId: string
  /** The caller's W3C `traceparent`, when it is well formed. */
  traceparent: string | undefined
}

/** What an HTTP API brings to the common pipeline: who calls, how it spells things, how it refuses. */
export interface Api<C> {
  limits: BodyLimits
  /** Resolves the caller and checks the route's access, or throws. */
  authorize: (request: Request, route: Route, trace: Trace) => Promise<C>
  /** What the log tells of a caller. */
  identity: (ctx: C) => Identity
  rename: Rename
  /** Waits until this caller has a turn, which is held while the request runs; absent, everybody has one. */
  enter?:
    | ((ctx: C, route: Pick<Route, 'transfer'>, signal: AbortSignal) => Promise<Disposable>)
    | undefined
  /** Asks whoever decides about this caller and what the request is about; answers who may do what. */
  decide?: ((ctx: C, route: Route, input: RouteInput<Route>) => Promise<C>) | undefined
  /** Has the last word on what leaves, after the reply was checked. */
  finish?: ((ctx: C, route: Route, reply: unknown) => Promise<unknown>) | undefined
  /** Check replies against the contract: always in tests; see docs/decisions. */
  checkReplies: boolean
}

export interface RequestInput<R extends Route> extends RouteInput<R> {
  /** Version from `If-Match`; 0 on routes without it. */
  expectedVersion: number
  idempotencyKey: string | undefined
  /** The parsed body before validation: what an idempotency fingerprint is made of. */
  rawBody: unknown
  /** Query string as sent, for the same fingerprint. */
  search: string
  /** The body on routes of `bytes`; empty on others. Read at most once. */
  bytes: AsyncIterable<Uint8Array>
}

/** A reply with a status other than the route's first, or with headers of its own. */
export interface Answer<Body> {
  status: number
  body: Body
  headers?: Record<string, string>
}

export type Run<C, R extends Route> = (
  ctx: C,
  input: RequestInput<R>,
) => Promise<Answer<RouteReply<R>>>

/**
 * Serves one route: traces, authorises, checks the input, runs, checks the reply so that nothing
 * outside the contract leaves, sets `ETag`. Transactions and idempotency belong to `run`.
 */
export function serve<C, R extends Route>(app: Hono, api: Api<C>, route: R, run: Run<C, R>): void {
  app.on(route.method, honoPath(route.path), async (c) => {
    const trace = traceOf(c)
    note(c, { route: route.path })
    const caller = await api.authorize(c.req.raw, route, trace)
    if (isKnown(route)) note(c, api.identity(caller))
    const expectedVersion = route.ifMatch ? readIfMatch(c, route.ifMatch) : 0
    const idempotencyKey = readIdempotencyKey(c, route)
    const { raw, ...checked } = await readInput(c, route, api.limits, api.rename)
    const input = checked as RouteInput<R>
    const { search } = new URL(c.req.url)
    const turn = await api.enter?.(caller, route, c.req.raw.signal)
    let ctx = caller
    const answer = await attempt(async () => {
      ctx = api.decide ? await api.decide(caller, route, input) : caller
      const sent = { rawBody: raw, search, bytes: bodyChunks(c.req.raw) }
      return await run(ctx, { ...input, expectedVersion, idempotencyKey, ...sent })
    }, turn)
    const body = await finished(api, ctx, route, answer.body)
    for (const [name, value] of Object.entries(answer.headers ?? {})) c.header(name, value)
    const etag = etagOf(route, body)
    if (etag !== undefined) c.header('ETag', etag)
    if (etag && route.viewHash && namesTag(c.req.header('if-none-match'), etag))
      return c.body(null, 304)
    if (route.content) return await sendContent(c, body as Content)
    return c.json(body as object, answer.status as ContentfulStatusCode)
  })
}

/** Whether whoever calls has shown who it is. */
function isKnown({ access }: Route): boolean {
  return access !== 'public' && access !== 'bootstrap'
}

/** The reply as it leaves: checked against the contract, then as whoever has the last word leaves it. */
async function finished<C>(api: Api<C>, ctx: C, route: Route, reply: unknown): Promise<unknown> {
  const said = api.checkReplies ? route.reply.parse(reply) : reply
  return api.finish ? await api.finish(ctx, route, said) : said
}

/** Does the work and ends the turn it was given. */
export async function attempt<T>(work: () => Promise<T>, turn: Disposable | undefined): Promise<T> {
  try {
    return await work()
  } finally {
    turn?.[Symbol.dispose]()
  }
}

function etagOf({ etag, viewHash }: Route, body: unknown): string | undefined {
  const reply = body as { version?: unknown; rowVersion?: unknown; viewHash?: unknown }
  if (viewHash) return `"${String(reply.viewHash)}"`
  // Where `version` is a name that users gave, the row has a version of its own.
  return etag && `"${etag}-${String(reply.rowVersion ?? reply.version)}"`
}

/** What the log tells of a trace. */
export function traceFields({ traceparent, ...ids }: Trace) {
  const traceId = parseTraceparent(traceparent)?.traceId
  return { ...ids, ...(traceId !== undefined && { traceId }) }
}

const TRACE = Symbol('trace')
const SAFE_ID = /^[A-Za-z0-9._:-]{1,128}$/

/** The trace of a request, made once and echoed in its response headers. */
export function traceOf(c: Context): Trace {
  const holder = c.req.raw as Request & { [TRACE]?: Trace }
  if (holder[TRACE]) return holder[TRACE]
  const own = (name: string) => {
    const value = c.req.header(name)
    return value !== undefined && SAFE_ID.test(value) ? value : randomUUID()
  }
  const given = c.req.header('traceparent')
  const trace = {
    requestId: own('x-request-id'),
    correlationId: own('x-correlation-id'),
    traceRunId: own('x-run-id'),
    traceparent: parseTraceparent(given) && given,
  }
  holder[TRACE] = trace
  c.header('X-Request-ID', trace.requestId)
  c.header('X-Correlation-ID', trace.correlationId)
  c.header('X-Run-Id', trace.traceRunId)
  return trace
}

function readIfMatch(c: Context, entity: string): number {
  const header = c.req.header('if-match')
  if (header === undefined) {
    throw new AppError('if_match_required', `Cannot change the ${entity}: If-Match is missing`, {
      details: { expected: `"${entity}-<version>"` },
    })
  }
  const version = new RegExp(`^"${entity}-([1-9]\\d{0,8})"$`).exec(header)?.[1]
  if (version === undefined) {
    throw new AppError('invalid_if_match', `Cannot change the ${entity}: If-Match is malformed`, {
      details: { expected: `"${entity}-<version>"` },
    })
  }
  return Number(version)
}

/** The `Idempotency-Key` of a request; a malformed one is refused also where none is used. */
export function readIdempotencyKey(c: Context, route: Route): string | undefined {
  const key = c.req.header('idempotency-key')
  if (key === undefined) {
    if (route.idempotencyKey !== 'required') return undefined
    throw new AppError('idempotency_key_required', 'Cannot act: Idempotency-Key is missing')
  }
  if (!/^[\x21-\x7e]([\x20-\x7e]{0,253}[\x21-\x7e])?$/.test(key)) {
    throw new AppError('invalid_request', 'Cannot act: Idempotency-Key is malformed', {
      details: {
        errors: [
          { loc: 'header.Idempotency-Key', message: 'must be 1 to 255 printable ASCII characters' },
        ],
      },
    })
  }
  return route.idempotencyKey === 'none' ? undefined : key
}
