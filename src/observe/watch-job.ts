import type { Log } from '#lib/log.ts'
import { NO_TRACING } from '#lib/tracing.ts'
import type { Tracing } from '#lib/tracing.ts'
import type { Metrics } from './metrics.ts'

/** What a round of a job did, by name: 0 is nothing. */
export type Done = Readonly<Record<string, number>>

/**
 * Runs one round of a job that is repeated for ever: counts it, times it, and logs what it did or why it failed.
 * Never throws; the next round is the retry.
 */
export async function watchJob(
  { log, metrics, tracing = NO_TRACING }: { log: Log; metrics: Metrics; tracing?: Tracing },
  job: string,
  round: () => Promise<Done | void>,
): Promise<void> {
  const start = performance.now()
  try {
    const { done, isIdle } = await tracing.span(`job ${job}`, {}, async (span) => {
      const did = (await round()) ?? {}
      const counts = Object.entries(did)
      for (const [name, count] of counts) span.set({ [`strata.${name}`]: count })
      const didNothing = counts.every(([, count]) => count === 0)
      // Rounds come every second; those that find nothing to do are not worth a trace.
      if (didNothing) span.discard()
      return { done: did, isIdle: didNothing }
    })
    log[isIdle ? 'debug' : 'info']('Job done', { job, ...done, durationMs: since(start) })
    metrics.jobRuns.inc({ job, outcome: 'ok' })
    metrics.jobLastSuccess.set({ job }, Date.now() / 1000)
  } catch (error) {
    log.error('Job failed', error, { job, durationMs: since(start) })
    metrics.jobRuns.inc({ job, outcome: 'failed' })
  }
  metrics.jobDuration.observe({ job }, since(start) / 1000)
}

function since(start: number): number {
  return Math.round((performance.now() - start) * 1000) / 1000
}
