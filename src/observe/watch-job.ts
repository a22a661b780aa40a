import type { Log } from '#lib/log.ts'
import type { Metrics } from './metrics.ts'

/** What a round of a job did, by name: 0 is nothing. */
export type Done = Readonly<Record<string, number>>

/**
 * Runs one round of a job that is repeated for ever: counts it, times it, and logs what it did or why it failed.
 * Never throws; the next round is the retry.
 */
export async function watchJob(
  { log, metrics }: { log: Log; metrics: Metrics },
  job: string,
  round: () => Promise<Done | void>,
): Promise<void> {
  const start = performance.now()
  try {
    const done = (await round()) ?? {}
    const isIdle = Object.values(done).every((count) => count === 0)
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
