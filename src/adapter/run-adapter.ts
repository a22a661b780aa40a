import { setTimeout as sleep } from 'node:timers/promises'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import {
  CONTEXT_ADAPTER,
  insertMissingConsumers,
  pauseConsumer,
  recordFailure,
  selectDueTenants,
} from '#events/consumers.ts'
import { CHANNEL } from '#events/notify.ts'
import { createWakes } from '#lib/wakes.ts'
import type { Log } from '#lib/log.ts'
import type { Attributes } from '#lib/tracing.ts'
import { redactCredentials } from '#lib/redact.ts'
import { deliverTenant } from './deliver-tenant.ts'
import type { Delivery, Turn } from './deliver-tenant.ts'
import { campaign } from './leader.ts'
import type { Leader } from './leader.ts'
import type { Sink } from './sink.ts'

export interface AdapterSettings {
  /** Events of one tenant in one turn. */
  tenantBatchSize: number
  maxTenantsPerCycle: number
  /** Tenants delivered at the same time. */
  concurrency: number
  pollSeconds: number
  backoffBaseSeconds: number
  backoffMaxSeconds: number
}

export interface AdapterDeps {
  db: Database
  /** Where the leader opens the connection that holds its lock. */
  address: DatabaseAddress
  sink: Sink
  settings: AdapterSettings
  log: Log
  /** Told about every turn, for metrics. */
  onTurn: (turn: Turn) => void
  /** Stands around a cycle in which there is something to deliver, and around each delivery of it. */
  traced?: <T>(name: string, attributes: Attributes, work: () => Promise<T>) => Promise<T>
  /** Told when this process begins to lead, and when it no longer does. */
  onLeading?: (isLeading: boolean) => void
}

/** A delivery stays well under the memory service's body limit of 8 MiB. */
const MAX_BATCH_BYTES = 4 * 1024 * 1024
const CANDIDATE_POLLS = 5

/**
 * Replays every tenant's journal into memory until the signal aborts: at least once, in order within a
 * tenant, no tenant waiting for another. One process leads; the rest stand by and take over when its
 * connection ends.
 */
export async function runAdapter(deps: AdapterDeps, signal: AbortSignal): Promise<void> {
  const { log, settings, address } = deps
  while (!signal.aborted) {
    try {
      const candidate = { address, name: CONTEXT_ADAPTER, shard: 0, shards: 1, log }
      await using leader = await campaign(candidate)
      if (leader) await lead(deps, leader, signal)
    } catch (error) {
      if (!signal.aborted) log.error('Adapter stopped leading', error)
    }
    await pause(settings.pollSeconds * CANDIDATE_POLLS * (0.5 + Math.random() / 2), signal)
  }
}

async function lead(deps: AdapterDeps, leader: Leader, signal: AbortSignal): Promise<void> {
  const { db, log, settings } = deps
  log.info('Adapter leads', { shard: leader.shard, leaderEpoch: leader.leaderEpoch })
  const wakes = createWakes()
  const listener = await db.listen(CHANNEL, wakes.wake, wakes.wake)
  deps.onLeading?.(true)
  try {
    while (!signal.aborted && (await leader.isLeading())) {
      const { moved, pauseSeconds } = await runCycle(deps, leader, signal)
      if (pauseSeconds > 0) await pause(pauseSeconds, signal)
      else if (!moved) await wakes.wait(settings.pollSeconds, signal)
    }
  } finally {
    deps.onLeading?.(false)
    await listener.unlisten().catch(() => {})
  }
}

interface Cycle {
  moved: boolean
  /** Above zero when memory refuses the whole consumer. */
  pauseSeconds: number
}

/** One round over the tenants that are due, several at a time, the longest unserved first. */
export async function runCycle(
  deps: AdapterDeps,
  leader: Leader,
  signal: AbortSignal,
): Promise<Cycle> {
  const { db, settings } = deps
  await insertMissingConsumers(db, leader.name)
  const due = await selectDueTenants(db, leader.name, settings.maxTenantsPerCycle)
  if (due.length === 0) return { moved: false, pauseSeconds: 0 }
  const tenants = { 'strata.tenants': due.length }
  return await traced(deps, 'adapter cycle', tenants, () => serveTenants(deps, leader, due, signal))
}

async function serveTenants(
  deps: AdapterDeps,
  leader: Leader,
  due: readonly Due[],
  signal: AbortSignal,
): Promise<Cycle> {
  const { settings } = deps
  const waiting = [...due]
  const turns: Turn[] = []
  const isRefused = () => turns.some(({ kind }) => kind === 'unauthorised')
  const work = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (signal.aborted || isRefused() || !(await leader.isLeading())) return
      const tenant = { 'strata.tenant_id': next.tenantId }
      const serve = () => serveTenant(deps, leader, next, signal)
      turns.push(await traced(deps, 'adapter delivery', tenant, serve))
    }
  }
  const ends = await Promise.allSettled(Array.from({ length: settings.concurrency }, work))
  const broken = ends.find((end) => end.status === 'rejected')
  if (broken) throw broken.reason
  const refused = turns.find((turn) => turn.kind === 'unauthorised')
  await notePause(deps, leader, refused?.reason)
  return {
    moved: turns.some((turn) => turn.kind === 'moved'),
    pauseSeconds: refused ? settings.backoffMaxSeconds : 0,
  }
}

async function traced<T>(
  deps: AdapterDeps,
  name: string,
  attributes: Attributes,
  work: () => Promise<T>,
): Promise<T> {
  return await (deps.traced ? deps.traced(name, attributes, work) : work())
}

type Due = Awaited<ReturnType<typeof selectDueTenants>>[number]

async function serveTenant(
  deps: AdapterDeps,
  leader: Leader,
  { tenantId, position, failureCount }: Due,
  signal: AbortSignal,
): Promise<Turn> {
  const { name, shard, leaderEpoch } = leader
  const fence = { name, shard, leaderEpoch, tenantId, from: position }
  const delivery: Delivery = {
    db: deps.db,
    sink: deps.sink,
    pageSize: deps.settings.tenantBatchSize,
    maxBytes: MAX_BATCH_BYTES,
    backoffSeconds: (failures) => backoff(deps.settings, failures),
    signal,
  }
  const turn = await deliverTenant(delivery, fence, failureCount).catch(async (error: unknown) => {
    deps.log.error('Delivery broke', error, { tenantId })
    const delaySeconds = delivery.backoffSeconds(failureCount)
    const failure = {
      status: 'retrying',
      reason: String(error),
      eventId: null,
      delaySeconds,
    } as const
    await recordFailure(deps.db, fence, failure)
    return { kind: 'failed', ...failure } as const
  })
  tell(deps.log, tenantId, turn)
  deps.onTurn(turn)
  return turn
}

function tell(log: Log, tenantId: string, { kind, ...turn }: Turn): void {
  if ('reason' in turn) {
    // Words of another service: what looks like a credential in them is taken out.
    const told = { tenantId, ...turn, reason: redactCredentials(turn.reason) }
    log.warn(kind === 'failed' ? 'Delivery failed' : 'Delivery is refused as a whole', told)
  } else log.debug(kind === 'moved' ? 'Delivered' : 'Delivery was overtaken', { tenantId, ...turn })
}

/** One bad credential pauses the consumer as a whole; the next confirmed delivery ends the pause. */
async function notePause(deps: AdapterDeps, leader: Leader, reason?: string): Promise<void> {
  const seconds = deps.settings.backoffMaxSeconds
  await pauseConsumer(deps.db, leader, reason === undefined ? null : { reason, seconds })
}

/** Full-range exponential backoff with jitter: min(base * 2^n, max) * (0.5 .. 1), in seconds. */
function backoff(settings: AdapterSettings, failures: number): number {
  const { backoffBaseSeconds, backoffMaxSeconds } = settings
  const wait = Math.min(backoffBaseSeconds * 2 ** Math.min(failures, 30), backoffMaxSeconds)
  return wait * (0.5 + Math.random() / 2)
}

async function pause(seconds: number, signal: AbortSignal): Promise<void> {
  await sleep(seconds * 1000, undefined, { signal }).catch(() => {})
}
