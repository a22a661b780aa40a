import type { JournalEvent } from '#contract/events.ts'
import { transaction } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { decodeCursor } from '#events/cursor.ts'
import { commitLeased, failLeased, keepLease } from '#events/leased-consumers.ts'
import { collectAppended } from '#lib/appended.ts'
import { newId } from '#lib/id.ts'
import { systemAuthor } from '#lib/system-author.ts'
import {
  countDeadLetters,
  deleteDeadLetter,
  insertDelivery,
  updateDeadInARow,
  upsertDeadLetter,
} from './delivery.sql.ts'
import type { DeadLetterRow, WebhookDeliveryRow } from './delivery.sql.ts'
import { lockWebhook } from './lock-webhook.ts'
import { pauseWebhook } from './pause-webhook.ts'
import type { Attempt } from './send-message.ts'
import { leaseSeconds } from './turn.ts'
import type { Turn } from './turn.ts'
import { MAX_DEAD_IN_A_ROW, MAX_DEAD_LETTERS, retryDelay } from './webhook.ts'
import type { DeliveryRow } from './webhook.sql.ts'

export interface Tried {
  event: JournalEvent
  attempt: Attempt
}

/** The receiver says that it does not want to be called any more. Source: RFC 9110, Standard Webhooks. */
const GONE = 410

/**
 * Writes down what came of an attempt, all in one transaction under the lease: moves on when it arrived,
 * tries again later when it did not, and after the last attempt gives the event up and moves on. Answers
 * whether the turn goes on; it does not when the lease is lost, and then nothing is written.
 */
export async function recordAttempt(turn: Turn, hook: DeliveryRow, tried: Tried): Promise<boolean> {
  const { attempt } = tried
  if (attempt.error === null) return await recordDelivered(turn, hook, tried)
  turn.done.failed += 1
  if (attempt.httpStatus === GONE) {
    await pause(turn, 'the receiver is gone', (sql) => log(sql, turn, tried, { outcome: 'failed' }))
    return false
  }
  const failures = turn.lease.failureCount + 1
  if (failures < turn.sending.maxAttempts) {
    await recordFailed(turn, tried, failures)
    return false
  }
  return await giveUp(turn, hook, tried)
}

async function recordDelivered(turn: Turn, hook: DeliveryRow, tried: Tried): Promise<boolean> {
  const isRecorded = await transaction(turn.sending.db, 'read write', async (sql) => {
    if (!(await moveOn(sql, turn, tried))) return false
    await log(sql, turn, tried, { outcome: 'delivered' })
    const { webhookId, tenancy } = turn
    if (hook.deadInARow > 0) await updateDeadInARow(sql, tenancy, { webhookId, deadInARow: 0 })
    return true
  })
  if (isRecorded) arrive(turn, tried)
  if (isRecorded) turn.done.delivered += 1
  return isRecorded
}

/** Moves the place over the event, and lengthens the lease. */
async function moveOn(sql: Sql, turn: Turn, { event }: Tried): Promise<boolean> {
  const to = decodeCursor(event.cursor)
  return await commitLeased(sql, turn.lease, { to, seconds: leaseSeconds(turn.sending) })
}

function arrive(turn: Turn, { event }: Tried): void {
  turn.lease.position = decodeCursor(event.cursor)
  turn.lease.failureCount = 0
}

async function recordFailed(turn: Turn, tried: Tried, failures: number): Promise<void> {
  const { backoff, random, db } = turn.sending
  const { error, retryAfterSeconds } = tried.attempt
  const delaySeconds = retryDelay(backoff, failures, { random: random(), retryAfterSeconds })
  await transaction(db, 'read write', async (sql) => {
    const reason = error ?? ''
    if (await failLeased(sql, turn.lease, { reason, delaySeconds })) {
      await log(sql, turn, tried, { outcome: 'failed' })
    }
  })
}

/** The event is put on the list; a receiver that takes none of several in a row is left alone. */
async function giveUp(turn: Turn, hook: DeliveryRow, tried: Tried): Promise<boolean> {
  const { webhookId, tenancy, sending } = turn
  const appended = collectAppended()
  const author = systemAuthor(tenancy.tenantId, appended.wake)
  const outcome = await transaction(sending.db, 'read write', async (sql) => {
    await lockWebhook(sql, author, webhookId)
    if (!(await moveOn(sql, turn, tried))) return 'lost'
    await upsertDeadLetter(sql, tenancy, letterOf(turn, tried))
    await log(sql, turn, tried, { outcome: 'dead' })
    const deadInARow = hook.deadInARow + 1
    await updateDeadInARow(sql, tenancy, { webhookId, deadInARow })
    const letters = await countDeadLetters(sql, tenancy, webhookId)
    if (deadInARow < MAX_DEAD_IN_A_ROW && letters < MAX_DEAD_LETTERS) return 'given up'
    const reason =
      letters < MAX_DEAD_LETTERS ? `${deadInARow} events in a row failed` : 'too many dead letters'
    await pauseWebhook(sql, author, { id: webhookId, reason })
    return 'paused'
  })
  appended.announce(sending.notify, tenancy.tenantId)
  if (outcome !== 'lost') turn.done.dead += 1
  if (outcome === 'given up') arrive(turn, tried)
  return outcome === 'given up'
}

function letterOf({ webhookId, lease }: Turn, { event, attempt }: Tried) {
  const { httpStatus, error } = attempt
  const position = decodeCursor(event.cursor)
  const attempts = lease.failureCount + 1
  return { webhookId, id: event.id, eventType: event.type, position, attempts, httpStatus, error }
}

/**
 * Writes down one more attempt at an event that had been given up: off the list when it arrived, else back
 * to it. False when the lease is lost.
 */
export async function recordRedriven(
  turn: Turn,
  letter: DeadLetterRow,
  tried: Tried,
): Promise<boolean> {
  const { webhookId, tenancy, sending, lease } = turn
  const { httpStatus, error } = tried.attempt
  const attempts = letter.attempts + 1
  const isDelivered = error === null
  turn.done[isDelivered ? 'delivered' : 'failed'] += 1
  return await transaction(sending.db, 'read write', async (sql) => {
    if (!(await keepLease(sql, lease, leaseSeconds(sending)))) return false
    if (isDelivered) await deleteDeadLetter(sql, tenancy, { webhookId, eventId: letter.id })
    else await upsertDeadLetter(sql, tenancy, { ...letter, webhookId, attempts, httpStatus, error })
    await log(sql, turn, tried, { outcome: isDelivered ? 'delivered' : 'dead', attempt: attempts })
    return true
  })
}

/** Pauses the webhook in the name of the system, with whatever else is to be written. */
export async function pause(
  turn: Turn,
  reason: string,
  also: (sql: Sql) => Promise<void> = async () => {},
): Promise<void> {
  const { sending, webhookId, tenancy } = turn
  const appended = collectAppended()
  const author = systemAuthor(tenancy.tenantId, appended.wake)
  await transaction(sending.db, 'read write', async (sql) => {
    await lockWebhook(sql, author, webhookId)
    if (!(await keepLease(sql, turn.lease, leaseSeconds(sending)))) return
    await also(sql)
    await pauseWebhook(sql, author, { id: webhookId, reason })
  })
  appended.announce(sending.notify, tenancy.tenantId)
}

interface Outcome {
  outcome: WebhookDeliveryRow['outcome']
  /** Number of the attempt; the next one at this place unless given. */
  attempt?: number
}

async function log(
  sql: Sql,
  { webhookId, tenancy, lease }: Turn,
  { event, attempt: { httpStatus, error, durationMs } }: Tried,
  { outcome, attempt = lease.failureCount + 1 }: Outcome,
): Promise<void> {
  const of = { webhookId, eventId: event.id, eventType: event.type }
  await insertDelivery(sql, tenancy, {
    id: newId(),
    ...of,
    attempt,
    outcome,
    httpStatus,
    error,
    durationMs,
  })
}
