import type { BlobStore } from '#blobs/store.ts'
import { askMemory } from '#client/memory.ts'
import type { MemoryOptions } from '#client/memory.ts'
import { health as memoryHealth } from '#contract/memory.ts'
import type { Database } from '#db/sql.ts'
import { databaseCheck, journalCheck } from '#observe/database-checks.ts'
import { createHealth } from '#observe/health.ts'
import type { Finding } from '#observe/health.ts'
import { observePool, poolGauges, processGauges } from '#observe/process-metrics.ts'
import type { Metrics } from '#observe/metrics.ts'
import type { Probes } from '#observe/probes.ts'
import type { Log } from '#lib/log.ts'
import { contentCheck } from './content-store.ts'
import type { Tracing } from '#lib/tracing.ts'
import type { DatabaseName, ObserverOf } from './databases.ts'
import { migrationsOf } from './databases.ts'
import { databaseGauges } from './gauges.ts'

/** What a process works with, as far as its probes look at it. */
export interface Probed {
  role: string
  log: Log
  metrics: Metrics
  controlPlane?: Database
  memoryDatabase?: Database
  /** How memory is reached, null when none is configured; absent where this role does not ask it. */
  memory?: MemoryOptions | null
  /** Where large content is kept; absent where this role does not use it. */
  store?: BlobStore
}

/** Measures and traces every pool of this process. */
export function poolObservers({
  metrics,
  tracing,
}: {
  metrics: Metrics
  tracing: Tracing
}): ObserverOf {
  return (name) => observePool(metrics, name, tracing)
}

/** Whether this process can do its work, and its metrics. */
export function createProbes(probed: Probed): Probes {
  const { role, log, metrics, controlPlane, memoryDatabase, memory, store } = probed
  const own = controlPlane && {
    database: databaseCheck(controlPlane, () => migrationsOf('control_plane')),
    journal: journalCheck(controlPlane),
  }
  const beside = controlPlane === undefined && memoryDatabase !== undefined
  const health = createHealth(
    {
      vital: {
        ...own,
        ...(store && { content: contentCheck(store, log) }),
        ...(beside && { database: databaseCheck(memoryDatabase, () => migrationsOf('memory')) }),
      },
      ...(memory !== undefined && { informing: { memory: memoryCheck(memory) } }),
    },
    log,
  )
  const pools = { control_plane: controlPlane, memory: memoryDatabase } satisfies Record<
    DatabaseName,
    Database | undefined
  >
  const gauges = [
    processGauges(metrics, role),
    ...Object.entries(pools).flatMap(([name, db]) => (db ? [poolGauges(metrics, name, db)] : [])),
  ]
  const readDatabase = controlPlane && databaseGauges(metrics, controlPlane)
  const { registry } = metrics
  const refresh = async () => {
    await readDatabase?.()
    for (const update of gauges) update()
  }
  return {
    health,
    exposition: async () => {
      await refresh()
      return { text: await registry.metrics(), contentType: registry.contentType }
    },
    readings: async () => {
      await refresh()
      return await registry.getMetricsAsJSON()
    },
  }
}

const MEMORY_PATIENCE_MS = 1500

/** Requests are served without memory, so this never keeps anything from being ready. */
function memoryCheck(memory: MemoryOptions | null): () => Promise<Finding> {
  return async () => {
    if (!memory) return { status: 'disabled' }
    const signal = AbortSignal.timeout(MEMORY_PATIENCE_MS)
    const { kind } = await askMemory(memory, memoryHealth, {}, { signal })
    return { status: kind === 'ok' ? 'ok' : kind }
  }
}
