import { Counter, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** The counters of one process, and the registry that `/metrics` prints. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    contextRequests: new Counter({
      name: 'context_requests_total',
      help: 'Answers of POST /context',
      registers,
    }),
    contextDegraded: new Counter({
      name: 'context_degraded_total',
      help: 'Answers of POST /context without memory although it was asked for',
      labelNames: ['status'] as const,
      registers,
    }),
    contextProviderFailures: new Counter({
      name: 'context_provider_failures_total',
      help: 'Calls to memory on behalf of POST /context that failed',
      registers,
    }),
    contextDuration: new Histogram({
      name: 'context_request_duration_seconds',
      help: 'Time to answer POST /context',
      buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
      registers,
    }),
    authzShadowChecks: new Counter({
      name: 'authz_shadow_checks_total',
      help: 'Decisions that were compared with those of the decision point',
      registers,
    }),
    authzShadowDivergence: new Counter({
      name: 'authz_shadow_divergence_total',
      help: 'Decisions that the decision point would have made differently',
      registers,
    }),
    authzShadowUnavailable: new Counter({
      name: 'authz_shadow_unavailable_total',
      help: 'Comparisons for which the decision point had no answer',
      registers,
    }),
    authzShadowSkipped: new Counter({
      name: 'authz_shadow_skipped_total',
      help: 'Requests not compared: a local key, no permission asked for, or too many at once',
      registers,
    }),
    adapterDelivered: new Counter({
      name: 'context_adapter_delivered_total',
      help: 'Observations that memory has confirmed',
      registers,
    }),
    adapterDuplicates: new Counter({
      name: 'context_adapter_duplicates_total',
      help: 'Confirmed observations that memory already had',
      registers,
    }),
    adapterFailures: new Counter({
      name: 'context_adapter_failures_total',
      help: 'Deliveries that failed; the same position is tried again',
      registers,
    }),
  }
}
