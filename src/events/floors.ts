import type { Sql } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import type { Ctx } from '#lib/ctx.ts'
import { comparePositions, encodeCursor, ORIGIN } from './cursor.ts'
import type { Position } from './cursor.ts'

/** How far a tenant's events have left the hot journal, and how far they are gone; both only rise. */
export interface Floors {
  archived: Position
  pruned: Position
  /** Grows with every move. */
  version: number
}

type Tenant = Pick<Ctx, 'tenantId'>

interface FloorsRow {
  archivedEpoch: number
  archivedTxId: string
  archivedSequence: string
  prunedEpoch: number
  prunedTxId: string
  prunedSequence: string
  version: number
}

export async function selectFloors(sql: Sql, ctx: Tenant): Promise<Floors> {
  const [row] = await sql<FloorsRow[]>`
    select archived_epoch, archived_tx_id::text as archived_tx_id, archived_sequence,
           pruned_epoch, pruned_tx_id::text as pruned_tx_id, pruned_sequence, version
    from journal_floors
    where tenant_id = ${ctx.tenantId}`
  return row ? floorsOf(row) : { archived: ORIGIN, pruned: ORIGIN, version: 0 }
}

function floorsOf(row: FloorsRow): Floors {
  const { archivedEpoch, archivedTxId, archivedSequence, version } = row
  const { prunedEpoch, prunedTxId, prunedSequence } = row
  return {
    archived: { journalEpoch: archivedEpoch, txId: archivedTxId, sequence: archivedSequence },
    pruned: { journalEpoch: prunedEpoch, txId: prunedTxId, sequence: prunedSequence },
    version,
  }
}

/** Raises one of the floors to a position that its caller has just emptied up to. */
export async function raiseFloor(
  sql: Sql,
  ctx: Tenant,
  which: 'archived' | 'pruned',
  { journalEpoch, txId, sequence }: Position,
): Promise<void> {
  const column = (name: string) => sql(`${which}_${name}`)
  await sql`
    insert into journal_floors (tenant_id, version)
    values (${ctx.tenantId}, 0)
    on conflict (tenant_id) do nothing`
  await sql`
    update journal_floors
    set ${column('epoch')} = ${journalEpoch}, ${column('tx_id')} = ${txId}::xid8,
        ${column('sequence')} = ${sequence}::bigint, version = version + 1, updated_at = now()
    where tenant_id = ${ctx.tenantId}`
}

/**
 * Throws `cursor_below_journal_floor` for a place behind which events are gone. Asked after the events
 * were read: the floor only rises, so what was read from a place above it is whole.
 */
export function checkFloor(requested: Position, { pruned }: Floors): void {
  if (comparePositions(requested, pruned) >= 0) return
  throw new AppError(
    'cursor_below_journal_floor',
    'Cannot read the journal from there: events after the cursor have been removed',
    { details: { floorCursor: encodeCursor(pruned), requestedCursor: encodeCursor(requested) } },
  )
}

/** The floors as cursors; null where nothing has been moved. */
export function floorCursors({ archived, pruned }: Floors) {
  return { journalFloorCursor: cursorOf(archived), archiveFloorCursor: cursorOf(pruned) }
}

function cursorOf(floor: Position): string | null {
  return comparePositions(floor, ORIGIN) === 0 ? null : encodeCursor(floor)
}
