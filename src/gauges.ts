import { CONTEXT_ADAPTER } from '#events/consumers.ts'
import { selectBlocker } from '#events/horizon.ts'
import { selectConsumerLags, selectHorizonLag } from '#events/lag.ts'
import type { ConsumerLag } from '#events/lag.ts'
import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import { createReading } from '#lib/reading.ts'
import { forgetReadings } from '#observe/metrics.ts'
import type { Metrics } from '#observe/metrics.ts'
import { countLiveLeases } from '#work/live-leases.sql.ts'

/** A scrape is cheap for the database however often somebody scrapes. */
const FRESH_SECONDS = 5
const PATIENCE_SECONDS = 2

/**
 * Brings the gauges up to date that only the database of the control plane knows; to be asked before every
 * exposition. What cannot be had in time is absent.
 */
export function databaseGauges(metrics: Metrics, db: Database): () => Promise<void> {
  const limits = { freshSeconds: FRESH_SECONDS, patienceSeconds: PATIENCE_SECONDS }
  const ask = createReading(() => transaction(db, 'read only', readAll), limits)
  return async () => {
    const reading = await ask()
    forgetReadings(metrics)
    if (reading.kind === 'failed') metrics.readingsFailed.inc()
    else show(metrics, reading.value)
  }
}

type Readings = Awaited<ReturnType<typeof readAll>>

async function readAll(sql: Sql) {
  return {
    leases: await countLiveLeases(sql),
    horizonLagSeconds: await selectHorizonLag(sql),
    blocker: await selectBlocker(sql),
    consumers: await selectConsumerLags(sql),
  }
}

function show(metrics: Metrics, { leases, horizonLagSeconds, blocker, consumers }: Readings): void {
  metrics.sessionsLive.set(leases.sessions)
  metrics.claimsLive.set(leases.claims)
  metrics.horizonLag.set(horizonLagSeconds)
  metrics.blockerAge.set(blocker?.ageSeconds ?? 0)
  for (const lag of consumers) showConsumer(metrics, lag)
  const adapter = consumers.find(({ name }) => name === CONTEXT_ADAPTER)
  metrics.adapterLag.set(adapter?.events ?? 0)
  metrics.adapterLagCapped.set(adapter?.capped ?? 0)
  metrics.adapterParked.set(adapter?.tenants.parked ?? 0)
}

function showConsumer(metrics: Metrics, { name: consumer, events, seconds, tenants }: ConsumerLag) {
  metrics.consumerLagEvents.set({ consumer }, events)
  metrics.consumerLagSeconds.set({ consumer }, Math.max(0, seconds))
  for (const [status, count] of Object.entries(tenants)) {
    metrics.consumerTenants.set({ consumer, status }, count)
  }
}
