import type { Turn } from '#adapter/deliver-tenant.ts'
import type { ShadowCounts } from '#authz/shadow-decider.ts'
import type { ContextMetrics } from '#context/get-context.ts'
import type { StreamMeter } from '#http/open-stream.ts'
import type { Log } from '#lib/log.ts'
import type { Metrics } from '#observe/metrics.ts'

/** Counts what the context area reports. */
export function contextMeter(metrics: Metrics): ContextMetrics {
  return {
    answered(seconds) {
      metrics.contextRequests.inc()
      metrics.contextDuration.observe(seconds)
    },
    degraded: (status) => metrics.contextDegraded.inc({ status }),
    failed: () => metrics.contextProviderFailures.inc(),
  }
}

/** Counts what one turn of the adapter came to. */
export function countTurn(metrics: Metrics, turn: Turn): void {
  if (turn.kind !== 'moved') {
    metrics.adapterFailures.inc()
    return
  }
  metrics.adapterDelivered.inc(turn.delivered)
  metrics.adapterDuplicates.inc(turn.duplicates)
}

/** Counts what shadow mode finds, and tells the operator of each difference. */
export function shadowMeter(metrics: Metrics, log: Log): ShadowCounts {
  return {
    checked: () => metrics.authzShadowChecks.inc(),
    diverged: (difference) => {
      metrics.authzShadowDivergence.inc({ policy: difference.policy })
      log.info('The decision point would decide otherwise', { ...difference })
    },
    unavailable: () => metrics.authzShadowUnavailable.inc(),
    skipped: () => metrics.authzShadowSkipped.inc(),
  }
}

/** Counts the streams of events of this process. */
export function streamMeter({ streamsOpen, streamsStalled }: Metrics): StreamMeter {
  return {
    opened: (transport) => streamsOpen.inc({ transport }),
    closed: (transport) => streamsOpen.dec({ transport }),
    stalled: (transport) => streamsStalled.inc({ transport }),
  }
}
