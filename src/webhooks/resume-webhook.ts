import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import { encodeCursor } from '#events/cursor.ts'
import { resumeLeased } from '#events/leased-consumers.ts'
import type { Ctx } from '#lib/ctx.ts'
import { requirePermission } from '#org/permission.ts'
import { lockWebhook } from './lock-webhook.ts'
import { keptPlace, startPlace } from './start-place.ts'
import { consumerName } from './webhook.ts'
import { updateWebhookStatus } from './webhook.sql.ts'

/**
 * Sends to a webhook again, from where it stands or from another place; one that is active may be sent
 * elsewhere by it. Its failures are forgotten. Throws `not_found`, and for a place that cannot be read on
 * from what `startPlace` throws.
 */
export async function resumeWebhook(
  sql: Sql,
  ctx: Ctx,
  { id, after }: { id: string; after?: string | undefined },
): Promise<void> {
  requirePermission(ctx, 'webhooks.manage')
  requirePermission(ctx, 'events.read')
  const before = await lockWebhook(sql, ctx, id)
  if (before.status === 'active' && after === undefined) return
  const position = await (after === undefined
    ? keptPlace(sql, ctx, before.position)
    : startPlace(sql, ctx, after))
  await resumeLeased(sql, consumerName(id), { tenantId: ctx.tenantId, position })
  const entityVersion = await updateWebhookStatus(sql, ctx, { id, pauseReason: null })
  await appendEvent(sql, ctx, {
    type: 'webhook.resumed',
    entityType: 'webhook',
    entityId: id,
    entityVersion,
    workspaceId: before.workspaceId,
    payload: { cursor: encodeCursor(position) },
  })
}
