import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import { clearFailure, CONTEXT_ADAPTER, lockConsumerRow } from '#events/consumers.ts'
import type { ConsumerRow } from '#events/consumers.ts'
import { encodeCursor } from '#events/cursor.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'

/**
 * Lets the adapter try a failed position again at once. The cursor does not move, so the journal is
 * still replayed without a gap; doing it twice does no harm. Another tenant's id is `not_found`.
 */
export async function redriveAdapter(
  sql: Sql,
  ctx: Ctx,
  input: { tenantId: string; reason: string },
): Promise<void> {
  const row = await lockConsumer(sql, ctx, input.tenantId)
  await clearFailure(sql, CONTEXT_ADAPTER, ctx.tenantId)
  await appendEvent(sql, ctx, {
    type: 'context_adapter.redriven',
    ...journaled(ctx, row),
    payload: {
      consumer: CONTEXT_ADAPTER,
      wasParked: row.status === 'parked',
      parkedReason: row.reason,
      parkedEventId: row.parkedEventId,
      cursor: encodeCursor(row.position),
      reason: input.reason,
    },
  })
}

/** The caller's own consumer row; other commands on it and commits of deliveries wait. */
export async function lockConsumer(sql: Sql, ctx: Ctx, tenantId: string): Promise<ConsumerRow> {
  await lockEntities(sql, ctx, [{ type: 'context_adapter', id: ctx.tenantId }])
  const isOwn = tenantId.toLowerCase() === ctx.tenantId
  const row = isOwn ? await lockConsumerRow(sql, CONTEXT_ADAPTER, ctx.tenantId) : undefined
  return found(row, 'consumer of tenant', tenantId)
}

/** How an operation on the consumer stands in the journal. */
export function journaled(ctx: Ctx, { metadata }: ConsumerRow) {
  const { redrivesTotal = 0, rebuildsTotal = 0 } = metadata
  return {
    entityType: 'context_adapter',
    entityId: ctx.tenantId,
    entityVersion: redrivesTotal + rebuildsTotal + 1,
    workspaceId: null,
  }
}
