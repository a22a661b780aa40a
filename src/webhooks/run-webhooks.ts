import { setTimeout as sleep } from 'node:timers/promises'
import type { DatabaseAddress } from '#db/sql.ts'
import { leaseDueConsumers } from '#events/leased-consumers.ts'
import type { Lease } from '#events/leased-consumers.ts'
import { createListener } from '#events/listener.ts'
import { createWakes } from '#lib/wakes.ts'
import { serveWebhook } from './serve-webhook.ts'
import { leaseSeconds } from './turn.ts'
import type { Sending, Turn } from './turn.ts'
import { CONSUMER_PREFIX } from './webhook.ts'

export interface WebhookWorker {
  sending: Sending
  /** Where the connection that is told of new events is opened. */
  address: DatabaseAddress
  pollSeconds: number
  /** Runs one turn: counts it, and logs what it did or why it failed; never throws. */
  watch: (turn: () => Promise<Turn['done']>) => Promise<void>
  onError: (error: unknown) => void
}

const QUIET_MS = 20

/** Webhooks that one process serves at the same time. */
const LANES = 8

/**
 * Tells the receivers of every tenant's webhooks of events until the signal aborts: at least once, and to
 * each receiver in the order of the journal. Any number of processes may do it at once: each webhook is
 * served by whoever holds its lease, and what a process that lost it still writes is refused. Ends when
 * the attempts under way have been recorded.
 */
export async function runWebhooks(worker: WebhookWorker, signal: AbortSignal): Promise<void> {
  const { sending, address, pollSeconds, watch, onError } = worker
  const wakes = createWakes()
  await using listener = createListener({ address, onWake: wakes.wake, onError })
  listener.open()
  const serving = new Set<Promise<void>>()
  const serve = (lease: Lease, leasedAt: number) => {
    const turn = watch(() => serveWebhook(sending, { lease, leasedAt }, signal)).finally(() => {
      serving.delete(turn)
      wakes.wake()
    })
    serving.add(turn)
  }
  while (!signal.aborted) {
    const free = LANES - serving.size
    const leasedAt = performance.now()
    const leases = free > 0 ? await leaseDue(worker, free) : []
    for (const lease of leases) serve(lease, leasedAt)
    if (leases.length === free && free > 0) continue
    // Of many wake-ups in a row that bring nothing for us, not each one becomes a query.
    if (free > 0) await sleep(QUIET_MS, undefined, { signal }).catch(() => {})
    await wakes.wait(pollSeconds, signal)
  }
  await Promise.all(serving)
}

async function leaseDue({ sending, onError }: WebhookWorker, limit: number): Promise<Lease[]> {
  const seconds = leaseSeconds(sending)
  try {
    return await leaseDueConsumers(sending.db, { prefix: CONSUMER_PREFIX, limit, seconds })
  } catch (error) {
    onError(error)
    return []
  }
}
