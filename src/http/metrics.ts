import { Counter, Histogram, Registry } from 'prom-client'

export type Metrics = ReturnType<typeof createMetrics>

/** The counters of one process, and the registry that `/metrics` prints. */
export function createMetrics() {
  const registry = new Registry()
  const registers = [registry]
  return {
    registry,
    httpDuration: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to answer a request, by route and status',
      labelNames: ['method', 'route', 'status'] as const,
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
      registers,
    }),
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
