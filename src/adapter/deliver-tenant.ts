import type { Database } from '#db/sql.ts'
import type { JournalEvent } from '#contract/events.ts'
import { decodeCursor } from '#events/cursor.ts'
import type { Position } from '#events/cursor.ts'
import { commitDelivery, countStaleCommit, recordFailure } from '#events/consumers.ts'
import type { Failure, Fence } from '#events/consumers.ts'
import { readEvents } from '#events/read.ts'
import { selectRecordedContents } from './content.sql.ts'
import { toObservation } from './mapping.ts'
import type { Observation } from './mapping.ts'
import type { Sink, SinkResult } from './sink.ts'

export interface Delivery {
  db: Database
  sink: Sink
  /** Events read in one turn. */
  pageSize: number
  /** Largest body of one delivery, in bytes of JSON; a single larger event goes alone. */
  maxBytes: number
  /** Wait after the n-th failure in a row, in seconds. */
  backoffSeconds: (failures: number) => number
  signal: AbortSignal
}

/** What one turn of one tenant came to. */
export type Turn =
  | { kind: 'moved'; delivered: number; duplicates: number; hasMore: boolean }
  | { kind: 'failed'; status: Failure['status']; reason: string }
  /** Memory refuses the whole consumer; nothing of this tenant changed. */
  | { kind: 'unauthorised'; reason: string }
  /** Another leader, or an operator, moved the cursor meanwhile; nothing changed. */
  | { kind: 'fenced' }

interface Item {
  event: JournalEvent
  position: Position
  observation: Observation | null
}

/**
 * Delivers one page of one tenant's journal: reads after the cursor, translates, sends, and only after
 * memory's confirmation moves the cursor, and only over what was confirmed. A crash at any point
 * repeats a delivery, which memory recognises; nothing is skipped.
 */
export async function deliverTenant(
  delivery: Delivery,
  fence: Fence,
  failures: number,
): Promise<Turn> {
  const { items, hasMore } = await readPage(delivery, fence)
  if (items.length === 0) return { kind: 'moved', delivered: 0, duplicates: 0, hasMore: false }
  const sent = await sendItems(delivery, fence.tenantId, items)
  const turn = await commitPrefix(delivery, fence, items, sent)
  if (turn) return turn
  if (sent.result.kind === 'unauthorised') return sent.result
  if (sent.result.kind === 'confirmed') {
    const delivered = countObservations(items)
    return { kind: 'moved', delivered, duplicates: sent.result.duplicates, hasMore }
  }
  const moved = sent.confirmed > 0
  const from = items[sent.confirmed - 1]?.position ?? fence.from
  const failure = failureOf(delivery, sent.result, items[sent.confirmed], moved ? 0 : failures)
  await recordFailure(delivery.db, { ...fence, from }, failure)
  return { kind: 'failed', status: failure.status, reason: failure.reason }
}

interface Sent {
  /** How many leading items are stored in memory, or need not be. */
  confirmed: number
  result: SinkResult
}

async function readPage(
  { db, pageSize, maxBytes }: Delivery,
  { tenantId, from }: Fence,
): Promise<{ items: Item[]; hasMore: boolean }> {
  const page = await readEvents(db, { tenantId }, { after: from, limit: pageSize })
  const contents = await selectRecordedContents(
    db,
    tenantId,
    page.events.filter(({ type }) => type === 'observation.recorded').map(({ id }) => id),
  )
  const items: Item[] = []
  let bytes = 0
  for (const event of page.events) {
    const observation = toObservation(event, contents.get(event.id))
    bytes += observation ? Buffer.byteLength(JSON.stringify(observation)) : 0
    if (bytes > maxBytes && items.some((item) => item.observation)) {
      return { items, hasMore: true }
    }
    items.push({ event, observation, position: decodeCursor(event.cursor) })
  }
  return { items, hasMore: page.hasMore }
}

/** Sends a run of items; on a refusal of the whole batch halves it until the culprit is alone. */
async function sendItems(delivery: Delivery, tenantId: string, items: Item[]): Promise<Sent> {
  const sending = items.flatMap(({ observation }, index) =>
    observation ? [{ observation, index }] : [],
  )
  const [first] = sending
  const last = items.at(-1)
  if (!first || !last) {
    return { confirmed: items.length, result: { kind: 'confirmed', duplicates: 0 } }
  }
  const observations = sending.map((one) => one.observation)
  const batch = { tenantId, observations, position: last.position }
  const result = await delivery.sink(batch, delivery.signal)
  if (result.kind === 'confirmed') return { confirmed: items.length, result }
  if (result.kind === 'rejected') {
    const culprit = sending[result.index] ?? first
    return { confirmed: culprit.index, result }
  }
  if (result.kind !== 'refused') return { confirmed: 0, result }
  if (sending.length === 1) return { confirmed: first.index, result }
  const middle = sending[Math.ceil(sending.length / 2)] ?? first
  return await sendHalves(delivery, tenantId, items, middle.index)
}

async function sendHalves(
  delivery: Delivery,
  tenantId: string,
  items: Item[],
  half: number,
): Promise<Sent> {
  const first = await sendItems(delivery, tenantId, items.slice(0, half))
  if (first.result.kind !== 'confirmed') return first
  const second = await sendItems(delivery, tenantId, items.slice(half))
  return { ...second, confirmed: half + second.confirmed }
}

/** Commits the confirmed items, if any; answers `fenced` when that was refused. */
async function commitPrefix(
  { db }: Delivery,
  fence: Fence,
  items: Item[],
  { confirmed, result }: Sent,
): Promise<{ kind: 'fenced' } | undefined> {
  const last = items[confirmed - 1]
  if (!last) return undefined
  const delivered = countObservations(items.slice(0, confirmed))
  const duplicates = 'duplicates' in result ? result.duplicates : 0
  if (await commitDelivery(db, fence, { to: last.position, delivered, duplicates })) {
    return undefined
  }
  await countStaleCommit(db, fence.name, fence.tenantId)
  return { kind: 'fenced' }
}

function countObservations(items: readonly Item[]): number {
  return items.filter(({ observation }) => observation).length
}

function failureOf(
  { backoffSeconds }: Delivery,
  result: Exclude<SinkResult, { kind: 'confirmed' | 'unauthorised' }>,
  culprit: Item | undefined,
  failures: number,
): Failure {
  const wait = backoffSeconds(failures)
  const { reason } = result
  if (result.kind === 'transient') {
    const delaySeconds = Math.max(wait, result.retryAfterSeconds ?? 0)
    return { status: 'retrying', reason, eventId: null, delaySeconds }
  }
  return { status: 'parked', reason, eventId: culprit?.event.id ?? null, delaySeconds: wait }
}
