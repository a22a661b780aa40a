import type { Context, MiddlewareHandler } from 'hono'
import type { Trace } from './serve.ts'

/** A request whose answer is not known yet. */
export interface Begun extends Trace {
  /** `other` for one that no route has: a caller may call its method anything. */
  method: string
  /** It asks how this process is, over and over. */
  isProbe: boolean
}

/** Who asks, as far as a log may tell. */
export interface Identity {
  tenantId: string | null
  principal: string | null
}

/** What is known of a request once it has been answered; nothing of its content. */
export interface Served extends Identity {
  /** The route's path in the contract, or `unmatched`: a label must not grow with what callers send. */
  route: string
  /** 499 when the caller was gone before it could be answered. */
  status: number
  seconds: number
  /** Why it was refused; null when it was not. */
  code: string | null
  /** The answer was that of an earlier request with the same Idempotency-Key. */
  replayed: boolean
}

/**
 * Stands around every request: does the work it is handed, once, and learns what came of it when the headers
 * of the answer are made. Refusals and failures are answers too.
 */
export type Watch = (begun: Begun, work: () => Promise<Served>) => Promise<void>

export const UNWATCHED: Watch = async (_begun, work) => void (await work())

type Known = Pick<Served, 'route' | 'code' | keyof Identity>

const KNOWN = Symbol('known')
type Holder = Request & { [KNOWN]?: Partial<Known> }

/** Adds to what a {@link Watch} will be told of this request. */
export function note(c: Context, known: Partial<Known>): void {
  const holder = c.req.raw as Holder
  holder[KNOWN] = { ...holder[KNOWN], ...known }
}

/** What is known of a request so far. */
export function knownOf(c: Context): Known {
  const { [KNOWN]: known } = c.req.raw as Holder
  return { route: 'unmatched', tenantId: null, principal: null, code: null, ...known }
}

const CALLER_GONE = 499
const PROBES = new Set(['/health/live', '/health/ready', '/healthz', '/metrics'])
const METHODS = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Puts every request of an application under watch. */
export function watched(watch: Watch, traceOf: (c: Context) => Trace): MiddlewareHandler {
  return async (c, next) => {
    const start = performance.now()
    const method = METHODS.has(c.req.method) ? c.req.method : 'other'
    const isProbe = PROBES.has(c.req.path)
    await watch({ method, isProbe, ...traceOf(c) }, async () => {
      await next()
      const { status } = c.res
      const isGone = status >= 500 && c.req.raw.signal.aborted
      return {
        ...knownOf(c),
        status: isGone ? CALLER_GONE : status,
        seconds: (performance.now() - start) / 1000,
        replayed: c.res.headers.get('idempotency-replayed') === 'true',
      }
    })
  }
}
