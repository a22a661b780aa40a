import type { Context, MiddlewareHandler } from 'hono'

/** What is known of a request once it has been answered; nothing of its content. */
export interface Served {
  method: string
  /** The route's path in the contract, or `unmatched`: a label must not grow with what callers send. */
  route: string
  status: number
  seconds: number
  /** Null when no caller was recognised. */
  tenantId: string | null
  /** Of the caller's W3C `traceparent`, when it is well formed. */
  traceId: string | null
}

type Known = Partial<Pick<Served, 'route' | 'tenantId'>>

const KNOWN = Symbol('known')
type Holder = Request & { [KNOWN]?: Known }

/** Adds to what {@link observeAnswers} will tell of this request. */
export function note(c: Context, known: Known): void {
  const holder = c.req.raw as Holder
  holder[KNOWN] = { ...holder[KNOWN], ...known }
}

/** Tells of every answer, refusals and failures included, when its headers are made. */
export function observeAnswers(onAnswer: (c: Context, served: Served) => void): MiddlewareHandler {
  return async (c, next) => {
    const start = performance.now()
    await next()
    const { route = 'unmatched', tenantId = null } = (c.req.raw as Holder)[KNOWN] ?? {}
    onAnswer(c, {
      method: c.req.method,
      route,
      status: c.res.status,
      seconds: (performance.now() - start) / 1000,
      tenantId,
      traceId: traceIdOf(c.req.header('traceparent')),
    })
  }
}

/** Source: W3C Trace Context, "traceparent"; an id of zeros is none. */
function traceIdOf(header: string | undefined): string | null {
  const id = /^[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}/.exec(header ?? '')?.[1]
  return id === undefined || /^0+$/.test(id) ? null : id
}
