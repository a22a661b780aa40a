import { setTimeout as pause } from 'node:timers/promises'
import { call, TransportError } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import { queryEntities } from '#contract/knowledge.ts'
import type { Route, RouteReply } from '#contract/route.ts'
import { AppError } from '#lib/errors.ts'
import { MARKER_KIND, recordedPart } from './plan.ts'
import type { Origin, RecordedPart } from './plan.ts'

/** Where a connector publishes. */
export interface Target {
  readonly client: ClientOptions
  readonly workspaceId: string
  /** Domain pack that the snapshots are checked against, `name` or `name@version`. */
  readonly pack?: string
  readonly signal: AbortSignal
  readonly clock: Clock
}

export interface Clock {
  readonly now: () => Date
  readonly pause: (seconds: number, signal: AbortSignal) => Promise<void>
}

export const realClock: Clock = {
  now: () => new Date(),
  pause: (seconds, signal) => pause(seconds * 1000, undefined, { signal }),
}

export interface KnownEntity {
  readonly kind: string
  readonly key: string
  readonly attributes: Readonly<Record<string, unknown>>
}

const PAGE = 500
const MAX_ATTEMPTS = 6
const MAX_PAUSE_SECONDS = 60

/**
 * Calls the control plane and repeats what may be repeated: a lost answer, a memory that is away, a rate
 * limit. Every call of a connector is safe to repeat. Pauses 1, 2, 4, ... seconds, or as long as the
 * server says.
 */
export async function callPatiently<R extends Route>(
  target: Target,
  route: R,
  input: CallInput<R>,
): Promise<RouteReply<R>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await call(target.client, route, { ...input, signal: target.signal })
    } catch (error) {
      const wait = pauseSeconds(error, attempt)
      if (wait === undefined || attempt === MAX_ATTEMPTS) throw error
      await target.clock.pause(wait, target.signal)
    }
  }
}

/** How long to wait before another attempt; undefined when another attempt would fare no better. */
function pauseSeconds(error: unknown, attempt: number): number | undefined {
  const backoff = Math.min(2 ** (attempt - 1), MAX_PAUSE_SECONDS)
  if (error instanceof TransportError) return (error.status ?? 500) >= 500 ? backoff : undefined
  if (!(error instanceof AppError)) return undefined
  const mayPass =
    error.code === 'rate_limited' ||
    error.code === 'memory_timeout' ||
    error.code === 'idempotency_in_flight' ||
    (error.code === 'memory_unavailable' && error.details['retryable'] === true)
  return mayPass ? Math.min(error.retryAfterSeconds ?? backoff, MAX_PAUSE_SECONDS) : undefined
}

/** All entities of one kind that memory has open now and whose attributes equal `where`, page by page. */
export async function* knownEntities(
  target: Target,
  kind: string,
  where: Readonly<Record<string, string | boolean>>,
): AsyncGenerator<KnownEntity> {
  const conditions = Object.entries(where).map(([field, value]) => ({ field, op: 'eq', value }))
  let cursor: string | undefined
  do {
    const answer = await callPatiently(target, queryEntities, {
      body: {
        workspaceId: target.workspaceId,
        kinds: [kind],
        where: conditions,
        limit: PAGE,
        ...(cursor === undefined ? {} : { cursor }),
      },
    })
    const { items, nextCursor } = answer
    for (const item of Array.isArray(items) ? (items as Partial<KnownEntity>[]) : []) {
      const { key, attributes } = item
      if (typeof key === 'string') yield { kind, key, attributes: attributes ?? {} }
    }
    cursor = typeof nextCursor === 'string' ? nextCursor : undefined
  } while (cursor !== undefined)
}

/** What memory holds of one source, part by part, as the markers say. */
export async function readRecorded(
  target: Target,
  origin: Origin,
): Promise<Map<string, RecordedPart>> {
  const recorded = new Map<string, RecordedPart>()
  for await (const { attributes } of knownEntities(target, MARKER_KIND, { ...origin })) {
    const part = recordedPart(attributes)
    if (part) recorded.set(part.scope, part)
  }
  return recorded
}
