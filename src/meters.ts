import type { Turn } from '#adapter/deliver-tenant.ts'
import type { ContentMeter } from '#artifacts/routes.ts'
import type { ShadowCounts } from '#authz/shadow-decider.ts'
import type { AroundMemory } from '#client/memory.ts'
import { claimTask } from '#contract/claims.ts'
import type { ContextMetrics } from '#context/get-context.ts'
import type { StreamMeter } from '#http/open-stream.ts'
import type { Database } from '#db/sql.ts'
import { createNotifier } from '#events/notify.ts'
import type { Watch } from '#http/served.ts'
import type { Notify } from '#lib/appended.ts'
import type { MemoryMeter } from '#memory/serve-memory.ts'
import type { Log } from '#lib/log.ts'
import type { Tracing } from '#lib/tracing.ts'
import type { IndexMeter } from '#memory/index/indexes.ts'
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

/** Counts what comes into the memory service. */
export function memoryMeter(metrics: Metrics): MemoryMeter {
  return {
    recorded(results) {
      for (const result of results) {
        if ('error' in result) metrics.memoryObservations.inc({ outcome: 'refused' })
        else if (result.duplicate) metrics.memoryObservations.inc({ outcome: 'duplicate' })
        else {
          metrics.memoryObservations.inc({ outcome: 'accepted' })
          if (result.status !== 'processed') metrics.memoryAssertionsFailed.inc()
        }
      }
    },
    stored: (kind, outcome) => metrics.memoryStored.inc({ kind, outcome }),
  }
}

/** Counts what becomes of the search indexes of memory. */
export function indexMeter(metrics: Metrics): IndexMeter {
  return {
    loaded: (seconds) => metrics.memoryIndexLoad.observe(seconds),
    failed: () => metrics.memoryIndexFailures.inc(),
    dropped: () => metrics.memoryIndexDropped.inc(),
    sized(bytes, count) {
      metrics.memoryIndexBytes.set(bytes)
      metrics.memoryIndexNamespaces.set(count)
    },
  }
}

/** Counts content on its way in and out. */
export function contentMeter(metrics: Metrics): ContentMeter {
  return {
    stored: (bytes) => metrics.artifactBytesStored.inc(bytes),
    served: (bytes) => metrics.artifactBytesServed.inc(bytes),
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

/** Counts what is appended to journals, and wakes their readers. */
export interface Announcer extends AsyncDisposable {
  notify: Notify
}

export function createAnnouncer(
  { metrics, log }: { metrics: Metrics; log: Log },
  db: Database,
): Announcer {
  const notifier = createNotifier(
    db,
    (error) => {
      metrics.journalNotifications.inc({ outcome: 'failed' })
      log.error('Wake-up not sent', error)
    },
    (tenants) => metrics.journalNotifications.inc({ outcome: 'sent' }, tenants),
  )
  return {
    notify(tenantId, types = []) {
      countEvents(metrics, types)
      notifier.notify(tenantId)
    },
    [Symbol.asyncDispose]: () => Promise.resolve(notifier[Symbol.asyncDispose]()),
  }
}

/** Counts what the events of one committed transaction tell; they are the one trace that every writer leaves. */
export function countEvents(metrics: Metrics, types: readonly string[]): void {
  // Whoever claims a task whose lease is over records the end of the earlier claim together with its own.
  const kind = types.includes('claim.expired') ? 'takeover' : 'free'
  for (const type of types) {
    metrics.journalEvents.inc({ type })
    const [noun, what = ''] = type.split('.')
    if (type === 'task.claimed') metrics.claimsGranted.inc({ kind })
    else if (noun === 'claim') metrics.claimsEnded.inc({ how: what })
    else if (type === 'run.started') metrics.runsStarted.inc()
    else if (noun === 'run' && RUN_OUTCOMES.has(what)) metrics.runsEnded.inc({ outcome: what })
  }
}

const RUN_OUTCOMES = new Set(['succeeded', 'failed', 'cancelled', 'suspended'])

/** Counts refused claims by reason, around another watch. */
export function countingClaims(metrics: Metrics, watch: Watch): Watch {
  return (begun, work) =>
    watch(begun, async () => {
      const served = await work()
      const { route, code: reason } = served
      if (route === claimTask.path && reason !== null) metrics.claimsRefused.inc({ reason })
      return served
    })
}

/** Measures questions to memory, and makes them part of the trace of whoever asks. */
export function aroundMemory({
  metrics,
  tracing,
}: {
  metrics: Metrics
  tracing: Tracing
}): AroundMemory {
  return async ({ method, path }, ask) => {
    const attributes = { 'http.request.method': method, 'http.route': path }
    const options = { kind: 'client', attributes, onlyInside: true } as const
    return await tracing.span(`${method} ${path}`, options, async (span) => {
      const start = performance.now()
      const answer = await ask(tracing.headers())
      const seconds = (performance.now() - start) / 1000
      metrics.memoryDuration.observe({ route: path, outcome: answer.kind }, seconds)
      if ('status' in answer) span.set({ 'http.response.status_code': answer.status })
      if (answer.kind !== 'ok') span.fail(answer.kind)
      return answer
    })
  }
}

/** Counts what one turn of a webhook came to. */
export function countDeliveries(
  { webhookAttempts, webhookDeadLetters }: Metrics,
  { delivered, failed, dead }: { delivered: number; failed: number; dead: number },
): void {
  webhookAttempts.inc({ outcome: 'delivered' }, delivered)
  webhookAttempts.inc({ outcome: 'failed' }, failed)
  webhookDeadLetters.inc(dead)
}
