import { performance } from 'node:perf_hooks'
import { poolOf } from '#db/pool.ts'
import type { PoolObserver } from '#db/pool.ts'
import type { Database } from '#db/sql.ts'
import { troubleOf } from '#db/trouble.ts'
import { productVersion } from '#lib/version.ts'
import type { Tracing } from '#lib/tracing.ts'
import type { Metrics } from './metrics.ts'

/** Brings what is known of this process itself up to date; to be asked before every exposition. */
export function processGauges(metrics: Metrics, role: string): () => void {
  metrics.buildInfo.set({ version: productVersion(), node: process.version, role }, 1)
  metrics.processStart.set(Math.round(performance.timeOrigin) / 1000)
  let countedCpu = 0
  let lastLoop = performance.eventLoopUtilization()
  return () => {
    metrics.processMemory.set(process.memoryUsage.rss())
    const { user, system } = process.cpuUsage()
    const cpu = (user + system) / 1e6
    metrics.processCpu.inc(Math.max(0, cpu - countedCpu))
    countedCpu = cpu
    const loop = performance.eventLoopUtilization()
    metrics.eventLoop.set(performance.eventLoopUtilization(loop, lastLoop).utilization)
    lastLoop = loop
  }
}

/** Brings the gauges of a pool up to date; to be asked before every exposition. */
export function poolGauges(metrics: Metrics, pool: string, db: Database): () => void {
  return () => {
    const { max, demand } = poolOf(db) ?? { max: db.options.max, demand: 0 }
    metrics.poolMax.set({ pool }, max)
    metrics.poolInUse.set({ pool }, Math.min(max, demand))
    metrics.poolWaiting.set({ pool }, Math.max(0, demand - max))
  }
}

/** Measures what a pool tells, and traces transactions that are part of something. */
export function observePool(metrics: Metrics, pool: string, tracing: Tracing): PoolObserver {
  return {
    acquired: (seconds) => metrics.poolAcquire.observe({ pool }, seconds),
    async transaction(mode, run) {
      const start = performance.now()
      let outcome = 'rolled_back'
      const options = { attributes: { 'db.system.name': 'postgresql', pool }, onlyInside: true }
      try {
        const result = await tracing.span(`transaction ${mode}`, options, () => run())
        outcome = 'committed'
        return result
      } catch (error) {
        const trouble = troubleOf(error)
        if (trouble) metrics.databaseFailures.inc({ pool, kind: trouble.kind })
        throw error
      } finally {
        const seconds = (performance.now() - start) / 1000
        metrics.transactionDuration.observe({ pool, mode, outcome }, seconds)
      }
    },
  }
}
