import { Hono } from 'hono'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { troubleOf } from '#db/trouble.ts'
import type { Trouble } from '#db/trouble.ts'
import { AppError } from '#lib/errors.ts'
import type { Log } from '#lib/log.ts'
import { STATUS } from './errors.ts'
import { knownOf, note, UNWATCHED, watched } from './served.ts'
import type { Watch } from './served.ts'
import { traceFields, traceOf } from './serve.ts'
import type { Trace } from './serve.ts'

/** The body of a refusal, in the spelling of one API. */
export type Envelope = (error: AppError, trace: Trace) => object

/**
 * An empty application that answers every failure with its envelope: our refusals as they are, a
 * missing route as `not_found`, a database that cannot serve now as `not_ready` with the reason, anything else as
 * `internal_error`. The last and failures of the store of content are logged whole, unless the caller is gone.
 * Every request passes through `watch`.
 */
export function baseApp(log: Log, envelope: Envelope, watch: Watch = UNWATCHED): Hono {
  const app = new Hono()
  const refuse = (c: Context, error: AppError) => {
    const trace = traceOf(c)
    note(c, { code: error.code })
    if (error.retryAfterSeconds !== undefined) {
      c.header('Retry-After', String(error.retryAfterSeconds))
    }
    if (error.code === 'invalid_credentials') c.header('WWW-Authenticate', 'Bearer')
    return c.json(envelope(error, trace), STATUS[error.code] as ContentfulStatusCode)
  }
  app.use(watched(watch, traceOf))
  app.notFound((c) =>
    refuse(c, new AppError('not_found', `Cannot find route ${c.req.method} ${c.req.path}`)),
  )
  app.onError((error, c) => {
    if (error instanceof AppError && !isStoreFailure(error)) return refuse(c, error)
    if (c.req.raw.signal.aborted) return refuse(c, ourFault(error))
    const { code: _, ...known } = knownOf(c)
    const about = { method: c.req.method, ...known, ...traceFields(traceOf(c)) }
    const trouble = troubleOf(error)
    if (trouble) log.warn('Request not served', { ...about, database: trouble.kind })
    else log.error('Request failed', error, about)
    return refuse(c, refusalOf(error))
  })
  return app
}

/** A refusal that is not the caller's doing, and that nobody but the operator can do something about. */
function isStoreFailure({ code }: AppError): boolean {
  return code === 'content_unavailable' || code === 'content_damaged'
}

/** What the caller is told about a failure: our refusals as they are, nothing of what we did not foresee. */
export function refusalOf(error: unknown): AppError {
  if (error instanceof AppError) return error
  const trouble = troubleOf(error)
  return trouble ? notReady(trouble, error) : ourFault(error)
}

/**
 * Nothing of what was asked has happened, unless the connection was lost, when nobody knows: a write is safe to
 * repeat with its Idempotency-Key.
 */
function notReady({ kind, words, retryAfterSeconds }: Trouble, cause: unknown): AppError {
  return new AppError('not_ready', `Cannot serve the request: the database ${words}`, {
    cause,
    retryAfterSeconds,
    details: { reason: kind },
  })
}

function ourFault(cause: unknown): AppError {
  return new AppError('internal_error', 'Something went wrong on our side', { cause })
}

/** `{error: {code, message, details, requestId}}`, the control plane's. */
export const controlPlaneEnvelope: Envelope = ({ code, message, details }, { requestId }) => ({
  error: { code, message, details, requestId },
})
