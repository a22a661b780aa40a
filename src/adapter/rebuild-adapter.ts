import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import { CONTEXT_ADAPTER, rewindConsumer } from '#events/consumers.ts'
import { comparePositions, decodeCursor, encodeCursor, ORIGIN } from '#events/cursor.ts'
import type { Position } from '#events/cursor.ts'
import { checkFloor, selectFloors } from '#events/floors.ts'
import type { Floors } from '#events/floors.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { journaled, lockConsumer } from './redrive-adapter.ts'

/**
 * Sends the cursor back so that the tenant is replayed, from the start unless `cursor` is given.
 * Memory recognises what it already has. A delivery in flight cannot undo it: its commit expects the
 * place it started from.
 *
 * Throws `not_found`, `cursor_below_journal_floor` when events after the place are gone,
 * `cursor_must_not_advance`, `invalid_cursor`.
 */
export async function rebuildAdapter(
  sql: Sql,
  ctx: Ctx,
  input: { tenantId: string; cursor?: string | undefined; reason: string },
): Promise<void> {
  const to = input.cursor === undefined ? ORIGIN : decodeCursor(input.cursor, 'body.cursor')
  const row = await lockConsumer(sql, ctx, input.tenantId)
  const floors = await selectFloors(sql, ctx)
  checkFloor(to, floors)
  if (comparePositions(to, row.position) > 0 && !isLost(row.position, floors)) {
    throw new AppError(
      'cursor_must_not_advance',
      'Cannot rebuild: the cursor lies ahead of what has been delivered',
    )
  }
  await rewindConsumer(sql, CONTEXT_ADAPTER, { tenantId: ctx.tenantId, to })
  await appendEvent(sql, ctx, {
    type: 'context_adapter.rebuilt',
    ...journaled(ctx, row),
    payload: {
      fromCursor: encodeCursor(row.position),
      toCursor: encodeCursor(to),
      reason: input.reason,
    },
  })
}

/** What stood after the cursor is gone: the only way on is forward, to what is left. */
function isLost(position: Position, { pruned }: Floors): boolean {
  return comparePositions(position, pruned) < 0
}
