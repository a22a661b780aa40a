import type { Context } from 'hono'
import type { StreamMessage } from '#contract/event-stream.ts'
import type { Route, RouteInput } from '#contract/route.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { refusalOf } from './app.ts'
import type { Deps } from './bind.ts'
import { readInput } from './input.ts'
import type { Places } from './places.ts'
import { readIdempotencyKey, traceOf } from './serve.ts'
import type { Trace } from './serve.ts'
import { note } from './served.ts'

export interface StreamOptions {
  places: Places
  /** Aborts when the program stops: open streams say so and end. */
  stopping: AbortSignal
  /** How often a stream gives a sign of life and asks whether its reader may still read. */
  beatSeconds: number
  /** A reader that takes nothing for so long is cut. */
  stallSeconds: number
  meter: StreamMeter
}

export interface StreamMeter {
  opened: (transport: Transport) => void
  closed: (transport: Transport) => void
  stalled: (transport: Transport) => void
}
type Transport = 'sse' | 'websocket'

/** What a stream has to do with its reader while it lives. */
export interface Live {
  /** The caller as it was let in. */
  ctx: Ctx
  /** The caller as it stands now. Throws like a new request of the same caller would. */
  ask: () => Promise<Ctx>
  /** Waits for a turn at the database, as a request does. */
  enter: (ctx: Ctx) => Promise<Disposable>
  /** Aborts when the reader is gone. */
  gone: AbortSignal
  /** The last message that the reader has, if it comes again. */
  lastEventId: string | undefined
}

/** Makes the messages of a stream, a bounded batch each time the reader has taken the one before. */
export type Follow<R extends Route> = (live: Live, input: RouteInput<R>) => AsyncGenerator<Batch>
export type Batch = readonly StreamMessage[]

export interface Stream<R extends Route = Route> {
  deps: Deps
  route: R
  options: StreamOptions
  follow: Follow<R>
}

export interface Opened extends Disposable {
  /** Ends by itself after `end` or `refused`; never throws. */
  batches: AsyncGenerator<Batch>
}

/**
 * Lets a reader in and makes its first batch. Throws what a request would be refused with; after that
 * a refusal is a message. Disposing tells the stream that its reader is gone, and frees its place.
 */
export async function openStream<R extends Route>(c: Context, stream: Stream<R>): Promise<Opened> {
  const { deps, route, options, follow } = stream
  const { api } = deps
  const trace = traceOf(c)
  note(c, { route: route.path })
  const caller = await api.authorize(c.req.raw, route, trace)
  note(c, api.identity(caller))
  readIdempotencyKey(c, route)
  const input = (await readInput(c, route, api.limits, api.rename)) as RouteInput<R>
  const decide = async (ctx: Ctx) => (api.decide ? await api.decide(ctx, route, input) : ctx)
  const gone = new AbortController()
  const live: Live = {
    ctx: await decide(caller),
    ask: async () => await decide(await api.authorize(c.req.raw, route, trace)),
    enter: async (ctx) => (await api.enter?.(ctx, route, gone.signal)) ?? NO_TURN,
    gone: gone.signal,
    lastEventId: c.req.header('last-event-id') || undefined,
  }
  const place = options.places.take(`${caller.tenantId}/${caller.actorId}`)
  const transport = route.stream ?? 'sse'
  options.meter.opened(transport)
  const made = follow(live, input)
  const close = () => {
    if (gone.signal.aborted) return
    gone.abort()
    place[Symbol.dispose]()
    options.meter.closed(transport)
    // Also one that waits for its reader to take a batch gives back what it holds.
    made.return(undefined).catch(() => {})
  }
  try {
    const first = await made.next()
    const batches = checked(stream, { trace, first: first.value ?? [], made, gone: gone.signal })
    return { batches, [Symbol.dispose]: close }
  } catch (error) {
    close()
    throw error
  }
}

interface Made {
  trace: Trace
  first: Batch
  made: AsyncGenerator<Batch>
  gone: AbortSignal
}

async function* checked(
  { deps: { api, log }, route }: Stream,
  { trace, first, made, gone }: Made,
): AsyncGenerator<Batch> {
  const check = (batch: Batch) =>
    api.checkReplies ? batch.map((one) => route.reply.parse(one) as StreamMessage) : batch
  try {
    yield check(first)
    for await (const batch of made) yield check(batch)
  } catch (error) {
    if (gone.aborted) return
    if (!(error instanceof AppError)) log.error('Stream failed', error, { ...trace })
    yield [refusedMessage(error, trace)]
  }
}

/** The last message of a stream that ends because of an error. */
export function refusedMessage(error: unknown, trace: Trace): StreamMessage {
  const { code, message, details } = refusalOf(error)
  const { requestId } = trace
  return { type: 'refused', error: { code, message, details, requestId } }
}

const NO_TURN: Disposable = { [Symbol.dispose]: () => {} }
