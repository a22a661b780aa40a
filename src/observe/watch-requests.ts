import type { Begun, Served, Watch } from '#http/served.ts'
import { traceFields } from '#http/serve.ts'
import type { Log } from '#lib/log.ts'
import { parseTraceparent } from '#lib/traceparent.ts'
import { NO_TRACING } from '#lib/tracing.ts'
import type { Span, Tracing } from '#lib/tracing.ts'
import type { Metrics } from './metrics.ts'

/**
 * One line of the log, one measurement and, where traces are made, one span for every request. What asks whether
 * we live, and what nobody serves, is on `debug` unless it is refused for another reason.
 */
export function watchRequests({
  log,
  metrics,
  tracing = NO_TRACING,
}: {
  log: Log
  metrics: Metrics
  tracing?: Tracing
}): Watch {
  return async (begun, work) => {
    metrics.httpInFlight.inc()
    try {
      if (begun.isProbe) finish(log, metrics, begun, await work())
      else await trace(tracing, begun, async () => finish(log, metrics, begun, await work()))
    } finally {
      metrics.httpInFlight.dec()
    }
  }
}

function finish(log: Log, metrics: Metrics, begun: Begun, served: Served): Served {
  count(metrics, begun, served)
  write(log, begun, served)
  return served
}

async function trace(tracing: Tracing, begun: Begun, work: () => Promise<Served>): Promise<void> {
  const { method, requestId, traceRunId, traceparent } = begun
  const attributes = {
    'http.request.method': method,
    'strata.request_id': requestId,
    'strata.trace_run_id': traceRunId,
  }
  const parent = parseTraceparent(traceparent)
  await tracing.span(method, { kind: 'server', attributes, parent }, async (span) =>
    describe(span, method, await work()),
  )
}

function describe(span: Span, method: string, served: Served): void {
  const { route, status, code, tenantId } = served
  span.rename(`${method} ${route}`)
  span.set({
    'http.route': route,
    'http.response.status_code': status,
    ...(code !== null && { 'error.type': code }),
    ...(tenantId !== null && { 'strata.tenant_id': tenantId }),
  })
  if (status >= 500) span.fail(code ?? String(status))
}

function count(metrics: Metrics, { method }: Begun, served: Served): void {
  const { route, status, code, seconds } = served
  metrics.httpDuration.observe({ method, route, status }, seconds)
  if (code !== null) metrics.httpRefusals.inc({ route, code })
  if (served.replayed) metrics.idempotencyReplays.inc({ route })
}

function write(log: Log, begun: Begun, served: Served): void {
  const { method, requestId, correlationId, traceRunId, traceparent } = begun
  const { seconds, replayed, code, ...rest } = served
  log[levelOf(served)]('Request', {
    method,
    ...rest,
    ...(code !== null && { code }),
    ...(replayed && { replayed }),
    durationMs: Math.round(seconds * 1e6) / 1000,
    ...traceFields({ requestId, correlationId, traceRunId, traceparent }),
  })
}

function levelOf({ route, status }: Served): 'debug' | 'info' | 'warn' {
  if (status >= 500) return 'warn'
  return route === 'unmatched' ? 'debug' : 'info'
}
