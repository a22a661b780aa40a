import type { JournalEvent } from '#contract/events.ts'
import { transaction } from '#db/sql.ts'
import { comparePositions, decodeCursor, encodeCursor } from '#events/cursor.ts'
import { commitLeased, releaseLease, wantTurn } from '#events/leased-consumers.ts'
import type { Lease } from '#events/leased-consumers.ts'
import { checkPlace } from '#events/place.ts'
import { listEvents } from '#journal/list-events.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { strangerCtx } from '#org/authorize.ts'
import { deleteDeadLetter, deleteOldDeliveries, selectRedriving } from './delivery.sql.ts'
import type { DeadLetterRow } from './delivery.sql.ts'
import { pause, recordAttempt, recordRedriven } from './record-attempt.ts'
import { sendMessage } from './send-message.ts'
import type { Attempt } from './send-message.ts'
import { signatureHeaders } from './sign.ts'
import { beginTurn, holdsLongEnough, leaseSeconds } from './turn.ts'
import type { Sending, Turn } from './turn.ts'
import { MAX_DELIVERIES } from './webhook.ts'
import { selectForDelivery } from './webhook.sql.ts'
import type { DeliveryRow } from './webhook.sql.ts'

/** A turn begins no attempt after so long: others wait for a turn too. */
const TURN_MS = 30_000
/** What the owner reaches is found anew after so long. */
const PAGE_MS = 5000

/**
 * Serves one webhook for a turn: first what is to be tried again, then the events after its place, one after
 * the other, each confirmed by its receiver before the next is sent. Ends with the first one that is not,
 * when the lease is lost, or when the turn has been long enough. Answers what was done.
 */
export async function serveWebhook(
  sending: Sending,
  { lease, leasedAt }: { lease: Lease; leasedAt: number },
  stopping: AbortSignal,
): Promise<Turn['done']> {
  const turn = beginTurn(sending, lease, leasedAt)
  const ends = performance.now() + TURN_MS
  const isOver = () => stopping.aborted || performance.now() > ends
  // After a failure of our own the lease is left to end by itself: the pause before the next turn.
  try {
    if (await serveLetters(turn, isOver)) await serveEvents(turn, isOver)
  } catch (error) {
    if (!isRemoved(error)) throw error
  }
  const { webhookId, tenancy, done } = turn
  if (done.delivered + done.failed + done.dead > 0) {
    await deleteOldDeliveries(sending.db, tenancy, { webhookId, keep: MAX_DELIVERIES })
  }
  await releaseLease(sending.db, lease)
  return done
}

/** The webhook was removed while it was served. */
function isRemoved(error: unknown): boolean {
  return error instanceof AppError && error.code === 'not_found'
}

/** False when the turn is over. */
async function serveLetters(turn: Turn, isOver: () => boolean): Promise<boolean> {
  const { sending, webhookId, tenancy, lease } = turn
  const limit = sending.batch
  const letters = await selectRedriving(sending.db, tenancy, { webhookId, limit })
  for (const [index, letter] of letters.entries()) {
    const goesOn = !isOver() && (await serveLetter(turn, letter))
    if (!goesOn || index === limit - 1) {
      await wantTurn(sending.db, lease.name, lease.tenantId)
      return false
    }
  }
  return true
}

async function serveLetter(turn: Turn, letter: DeadLetterRow): Promise<boolean> {
  const hook = await standing(turn)
  if (!hook || !(await holdsLongEnough(turn))) return false
  const event = await eventOf(turn, hook, letter)
  if (!event) {
    // It has left the journal, or what may be told to this receiver.
    const { webhookId, tenancy, sending } = turn
    await deleteDeadLetter(sending.db, tenancy, { webhookId, eventId: letter.id })
    return true
  }
  return await recordRedriven(turn, letter, { event, attempt: await send(turn, hook, event) })
}

/** Page after page, until nothing is left or the turn is over. */
async function serveEvents(turn: Turn, isOver: () => boolean): Promise<void> {
  while (turn.left > 0 && !isOver()) {
    const hook = await standing(turn)
    const page = hook && (await readPage(turn, hook))
    if (!page) return
    const served = await servePage(turn, page.items, isOver)
    if (served === 'over') return
    if (served === 'partly') continue
    if (!(await passOver(turn, page.nextCursor)) || !page.hasMore) return
  }
}

/** Partly, when it has become so old that what is left is read again. */
async function servePage(
  turn: Turn,
  events: readonly JournalEvent[],
  isOver: () => boolean,
): Promise<'wholly' | 'partly' | 'over'> {
  const readAt = performance.now()
  for (const event of events) {
    if (isOver()) return 'over'
    if (performance.now() - readAt > PAGE_MS) return 'partly'
    if (!(await serveEvent(turn, event))) return 'over'
    turn.left -= 1
  }
  return 'wholly'
}

async function serveEvent(turn: Turn, event: JournalEvent): Promise<boolean> {
  const hook = await standing(turn)
  if (!hook || !(await holdsLongEnough(turn))) return false
  return await recordAttempt(turn, hook, { event, attempt: await send(turn, hook, event) })
}

/** Moves the place over what the filter leaves out. False when the lease is lost. */
async function passOver(turn: Turn, nextCursor: string): Promise<boolean> {
  const to = decodeCursor(nextCursor)
  if (comparePositions(to, turn.lease.position) <= 0) return true
  const seconds = leaseSeconds(turn.sending)
  if (!(await commitLeased(turn.sending.db, turn.lease, { to, seconds }))) return false
  turn.lease.position = to
  return true
}

/** The webhook as it is now; undefined, and paused if need be, when nothing may be sent to it. */
async function standing(turn: Turn): Promise<DeliveryRow | undefined> {
  const { tenantId } = turn.lease
  const hook = await selectForDelivery(turn.sending.db, tenantId, turn.webhookId)
  if (hook?.status !== 'active') return undefined
  const isActive = hook.ownerStatus === 'active'
  if (isActive && hook.mayRead) return hook
  await pause(turn, isActive ? 'the owner may not read events' : `the owner is ${hook.ownerStatus}`)
  return undefined
}

/** The events after the place that the receiver is told; undefined when the place cannot be read from. */
async function readPage(turn: Turn, hook: DeliveryRow) {
  const { lease, sending, left: limit } = turn
  const ctx = readerOf(turn, hook)
  try {
    return await transaction(sending.db, 'read only', async (sql) => {
      await checkPlace(sql, ctx, lease.position)
      return await listEvents(sql, ctx, {
        ...hook.filter,
        after: encodeCursor(lease.position),
        limit,
      })
    })
  } catch (error) {
    if (!(error instanceof AppError)) throw error
    await pause(turn, error.code)
    return undefined
  }
}

/** The event of a letter, if its receiver may still be told. */
async function eventOf(
  turn: Turn,
  hook: DeliveryRow,
  { id, position }: DeadLetterRow,
): Promise<JournalEvent | undefined> {
  const ctx = readerOf(turn, hook)
  const before = { ...position, sequence: String(BigInt(position.sequence) - 1n) }
  try {
    const { items } = await transaction(turn.sending.db, 'read only', (sql) =>
      listEvents(sql, ctx, { after: encodeCursor(before), limit: 1 }),
    )
    return items.find((event) => event.id === id)
  } catch (error) {
    if (error instanceof AppError) return undefined
    throw error
  }
}

/**
 * Whoever is told by a webhook reads like somebody with the owner's reach who wrote nothing: what is private
 * to its author, were it the owner, does not leave.
 */
function readerOf({ tenancy }: Turn, { workspaceId }: DeliveryRow): Ctx {
  const trace = { requestId: newId(), correlationId: newId(), traceRunId: newId() }
  const reach = workspaceId === null ? {} : { reach: { kind: 'subtree', workspaceId } as const }
  return { ...strangerCtx(trace), ...tenancy, ...reach }
}

async function send({ sending }: Turn, hook: DeliveryRow, event: JournalEvent): Promise<Attempt> {
  const body = JSON.stringify(event)
  const secrets = [hook.secret, ...(hook.previousSecret ? [hook.previousSecret] : [])]
  const signed = { id: event.id, timestamp: hook.now, body }
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'strata-webhooks/1',
    ...signatureHeaders(secrets, signed),
  }
  return await sendMessage({ url: hook.url, headers, body }, sending.limits)
}
