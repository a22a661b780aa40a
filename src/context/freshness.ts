import type { Freshness } from '#contract/context.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { Sql } from '#db/sql.ts'
import { CONTEXT_ADAPTER, selectConsumer } from '#events/consumers.ts'
import type { ConsumerRow } from '#events/consumers.ts'
import { encodeCursor } from '#events/cursor.ts'
import { countEventsAfter, horizonLagSeconds } from '#events/read.ts'

/** Lag is counted up to here; beyond it the exact number helps nobody. */
const MAX_COUNTED = 1000

/** How far memory is behind the journal, in events and in time, and why if it is stuck. */
export async function readFreshness(sql: Sql, ctx: Ctx, currentCursor: string): Promise<Freshness> {
  const [consumer, heldBackSeconds] = await Promise.all([
    selectConsumer(sql, CONTEXT_ADAPTER, ctx.tenantId),
    horizonLagSeconds(sql, ctx),
  ])
  const base = { currentCursor, horizonLagSeconds: heldBackSeconds }
  if (!consumer) {
    return {
      ...base,
      memoryCursor: null,
      memoryLagEvents: null,
      memoryLagCapped: false,
      memoryLagSeconds: null,
      memoryIngest: null,
    }
  }
  const { count, firstAt } = await countEventsAfter(sql, ctx, consumer.position, MAX_COUNTED + 1)
  const lagSeconds = firstAt ? (ctx.now().getTime() - firstAt.getTime()) / 1000 : 0
  return {
    ...base,
    memoryCursor: encodeCursor(consumer.position),
    memoryLagEvents: Math.min(count, MAX_COUNTED),
    memoryLagCapped: count > MAX_COUNTED,
    memoryLagSeconds: Math.max(0, lagSeconds),
    memoryIngest: ingestOf(consumer),
  }
}

function ingestOf({ status, reason, metadata, parkedEventId, nextAttemptAt }: ConsumerRow) {
  return {
    status,
    lastError: status === 'ok' ? null : reason,
    lastDeliveryAt: metadata.lastDeliveryAt ?? null,
    parkedEventId: status === 'parked' ? parkedEventId : null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
  }
}
