import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import { encodeCursor } from '#events/cursor.ts'
import type { Position } from '#events/cursor.ts'
import { selectFloors } from '#events/floors.ts'
import type { Floors } from '#events/floors.ts'
import {
  archiveEvents,
  pruneEvents,
  selectHasMainConsumer,
  selectReach,
  selectSlowestConsumer,
} from '#events/retention.ts'
import type { Move, Reach } from '#events/retention.ts'
import type { Author } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'

export interface MoveRequest {
  maxEvents: number
  minAgeSeconds: number
  /** Go on although no consumer has a place in the tenant's journal. */
  withoutConsumer: boolean
  reason: string
}

export interface Moved {
  events: number
  limitedBy: Reach['limitedBy']
  floors: Floors
}

/**
 * Moves the oldest events of the tenant to the archive, or deletes the oldest archived ones for good:
 * only what every consumer has read, what is old enough and what no open transaction can still precede.
 * Noted in the journal when anything was moved. Serialised with a rebuild, which may send a consumer
 * back only to events that are there.
 *
 * Throws `retention_blocked_by_consumer` when there is no consumer, or when nothing can be moved
 * because the slowest one has not read it.
 */
export async function moveEvents(
  sql: Sql,
  ctx: Author,
  move: Move,
  { maxEvents, minAgeSeconds, withoutConsumer, reason }: MoveRequest,
): Promise<Moved> {
  await lockEntities(sql, ctx, [
    { type: 'context_adapter', id: ctx.tenantId },
    { type: 'journal', id: ctx.tenantId },
  ])
  const slowest = await selectSlowestConsumer(sql, ctx)
  const isRead = withoutConsumer || (await selectHasMainConsumer(sql, ctx))
  if (!isRead) throw blocked(move, {})
  const consumer = slowest?.position ?? null
  const reach = await selectReach(sql, ctx, move, { consumer, minAgeSeconds, maxEvents })
  const { to, limitedBy } = reach
  if (!to) {
    if (limitedBy === 'consumer' && slowest) throw blocked(move, slowestDetails(slowest))
    return { events: 0, limitedBy, floors: await selectFloors(sql, ctx) }
  }
  const before = await selectFloors(sql, ctx)
  const from = move === 'archive' ? before.archived : before.pruned
  const events = await (move === 'archive' ? archiveEvents : pruneEvents)(sql, ctx, to)
  const floors = await selectFloors(sql, ctx)
  await appendEvent(sql, ctx, {
    type: move === 'archive' ? 'event_journal.archived' : 'event_journal.pruned',
    entityType: 'event_journal',
    entityId: ctx.tenantId,
    entityVersion: floors.version,
    workspaceId: null,
    payload: { fromCursor: encodeCursor(from), toCursor: encodeCursor(to), events, reason },
  })
  return { events, limitedBy, floors }
}

function slowestDetails({ name, position }: { name: string; position: Position }) {
  return { consumer: name, consumerCursor: encodeCursor(position) }
}

function blocked(move: Move, details: Record<string, unknown>): AppError {
  const why = 'consumer' in details ? 'the slowest has not read them' : 'there is none'
  return new AppError(
    'retention_blocked_by_consumer',
    `Cannot ${move} events that no consumer has confirmed: ${why}`,
    { details },
  )
}
