import type { JournalStatus } from '#contract/journal-operations.ts'
import type { Sql } from '#db/sql.ts'
import { selectConsumers } from '#events/consumers.ts'
import { encodeCursor } from '#events/cursor.ts'
import { floorCursors, selectFloors } from '#events/floors.ts'
import { selectBlocker, selectJournalEpoch } from '#events/horizon.ts'
import { currentPosition, horizonLagSeconds } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'

/** Where the caller's journal begins and ends, who reads it, and what holds its readers back. */
export async function readJournalStatus(
  sql: Sql,
  ctx: Ctx,
  retention: { minAgeSeconds: number },
): Promise<JournalStatus> {
  const consumers = await selectConsumers(sql, ctx.tenantId)
  return {
    tenantId: ctx.tenantId,
    journalEpoch: await selectJournalEpoch(sql),
    headCursor: encodeCursor(await currentPosition(sql, ctx)),
    ...floorCursors(await selectFloors(sql, ctx)),
    horizonLagSeconds: await horizonLagSeconds(sql, ctx),
    blocker: (await selectBlocker(sql)) ?? null,
    retention: { minAgeSeconds: retention.minAgeSeconds },
    consumers: consumers.map(({ name, position, status, updatedAt }) => ({
      name,
      cursor: encodeCursor(position),
      status,
      updatedAt: updatedAt.toISOString(),
    })),
  }
}
