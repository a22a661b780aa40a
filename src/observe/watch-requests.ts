import type { Begun, Served, Watch } from '#http/served.ts'
import type { Log } from '#lib/log.ts'
import { parseTraceparent } from '#lib/traceparent.ts'
import type { Metrics } from './metrics.ts'

/**
 * One line of the log and one measurement for every answer. What asks whether we live, and what nobody
 * serves, is on `debug` unless it is refused for another reason.
 */
export function watchRequests({ log, metrics }: { log: Log; metrics: Metrics }): Watch {
  return async (begun, work) => {
    metrics.httpInFlight.inc()
    try {
      const served = await work()
      count(metrics, begun, served)
      write(log, begun, served)
    } finally {
      metrics.httpInFlight.dec()
    }
  }
}

function count(metrics: Metrics, { method }: Begun, served: Served): void {
  const { route, status, code, seconds } = served
  metrics.httpDuration.observe({ method, route, status }, seconds)
  if (code !== null) metrics.httpRefusals.inc({ route, code })
  if (served.replayed) metrics.idempotencyReplays.inc({ route })
}

function write(log: Log, { method, traceparent, ...trace }: Begun, served: Served): void {
  const { seconds, replayed, code, ...rest } = served
  const level = levelOf(served)
  log[level]('Request', {
    method,
    ...rest,
    ...(code !== null && { code }),
    ...(replayed && { replayed }),
    durationMs: Math.round(seconds * 1e6) / 1000,
    ...trace,
    traceId: traceIdOf(traceparent),
  })
}

function levelOf({ route, status }: Served): 'debug' | 'info' | 'warn' {
  if (status >= 500) return 'warn'
  return route === 'unmatched' ? 'debug' : 'info'
}

/** The trace that the caller is part of; null when it names none. */
function traceIdOf(traceparent: string | undefined): string | null {
  return parseTraceparent(traceparent)?.traceId ?? null
}
