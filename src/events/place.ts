import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { comparePositions, encodeCursor, ORIGIN } from './cursor.ts'
import type { Position } from './cursor.ts'
import { selectFloors } from './floors.ts'
import { currentPosition } from './read.ts'

/**
 * Throws `restore_detected` for a place that the tenant's journal does not have: every cursor we hand out
 * is the beginning, the place of an event, or a floor, so its event was undone by a backup that was
 * restored since. A reader there would wait for ever, or take for new what is not. One look-up by the
 * primary keys; a place below the floor is left to the reading, which tells it.
 */
export async function checkPlace(sql: Sql, ctx: Tenancy, place: Position): Promise<void> {
  const { journalEpoch, txId, sequence } = place
  const [event] = await sql`
    select 1
    from journal
    where tenant_id = ${ctx.tenantId}
      and journal_epoch = ${journalEpoch}
      and tx_id = ${txId}::xid8
      and sequence = ${sequence}::bigint`
  if (event || comparePositions(place, ORIGIN) === 0) return
  if (comparePositions(place, (await selectFloors(sql, ctx)).pruned) <= 0) return
  throw new AppError(
    'restore_detected',
    'Cannot follow the journal from there: it has no such place any more, a backup was restored',
    {
      details: {
        requestedCursor: encodeCursor(place),
        headCursor: encodeCursor(await currentPosition(sql, ctx)),
      },
    },
  )
}
