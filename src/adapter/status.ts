import type { AdapterStatus } from '#contract/operations.ts'
import type { Sql } from '#db/sql.ts'
import { CONTEXT_ADAPTER, selectConsumer } from '#events/consumers.ts'
import type { ConsumerMetadata, ConsumerRow } from '#events/consumers.ts'
import { encodeCursor, ORIGIN } from '#events/cursor.ts'
import { floorCursors, selectFloors } from '#events/floors.ts'
import { countEventsAfter } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'

const LAG_CAP = 1000

const NEVER_SERVED: Omit<ConsumerRow, 'updatedAt'> & { updatedAt: Date | null } = {
  position: ORIGIN,
  status: 'ok',
  failureCount: 0,
  nextAttemptAt: null,
  reason: null,
  parkedAt: null,
  parkedEventId: null,
  metadata: {},
  updatedAt: null,
}

/** Where delivery to memory stands for the caller's tenant. */
export async function readAdapterStatus(sql: Sql, ctx: Ctx): Promise<AdapterStatus> {
  const row = (await selectConsumer(sql, CONTEXT_ADAPTER, ctx.tenantId)) ?? NEVER_SERVED
  const lag = await countEventsAfter(sql, ctx, row.position, LAG_CAP + 1)
  const waitedMs = lag.firstAt ? ctx.now().getTime() - lag.firstAt.getTime() : 0
  return {
    consumer: CONTEXT_ADAPTER,
    tenantId: ctx.tenantId,
    cursor: encodeCursor(row.position),
    lagEvents: Math.min(lag.count, LAG_CAP),
    lagCapped: lag.count > LAG_CAP,
    lagSeconds: Math.max(0, waitedMs / 1000),
    status: row.status,
    parked: row.status === 'parked',
    parkedAt: row.parkedAt?.toISOString() ?? null,
    parkedReason: row.reason,
    parkedEventId: row.parkedEventId,
    failureCount: row.failureCount,
    nextAttemptAt: row.nextAttemptAt?.toISOString() ?? null,
    updatedAt: row.updatedAt?.toISOString() ?? null,
    ...totals(row.metadata),
    journal: floorCursors(await selectFloors(sql, ctx)),
  }
}

function totals(metadata: ConsumerMetadata) {
  return {
    deliveredTotal: metadata.deliveredTotal ?? 0,
    duplicatesTotal: metadata.duplicatesTotal ?? 0,
    failuresTotal: metadata.failuresTotal ?? 0,
    redrivesTotal: metadata.redrivesTotal ?? 0,
    rebuildsTotal: metadata.rebuildsTotal ?? 0,
    lastError: metadata.lastError ?? null,
    lastDeliveryAt: metadata.lastDeliveryAt ?? null,
  }
}
