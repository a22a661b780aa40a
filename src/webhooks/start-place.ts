import { decodeCursor } from '#events/cursor.ts'
import type { Position } from '#events/cursor.ts'
import { checkFloor, selectFloors } from '#events/floors.ts'
import { checkPlace } from '#events/place.ts'
import { currentPosition } from '#events/read.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'

/**
 * Where a webhook is to begin: behind the cursor, or with what happens from now on. Throws what a cursor
 * is refused for, `cursor_below_journal_floor` and `restore_detected`.
 */
export async function startPlace(sql: Sql, ctx: Ctx, after: string | undefined): Promise<Position> {
  if (after === undefined) return await currentPosition(sql, ctx)
  return await keptPlace(sql, ctx, decodeCursor(after, 'body.after'))
}

/** A place that can still be read on from; throws when it cannot. */
export async function keptPlace(sql: Sql, ctx: Ctx, place: Position): Promise<Position> {
  checkFloor(place, await selectFloors(sql, ctx))
  await checkPlace(sql, ctx, place)
  return place
}
