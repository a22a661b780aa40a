import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { deleteDeadLetter } from './delivery.sql.ts'
import type { DeadLetterRow } from './delivery.sql.ts'
import { lockWebhook } from './lock-webhook.ts'

/** Strikes an event that was given up off the list. Throws `not_found`. */
export async function skipDeadLetter(
  sql: Sql,
  ctx: Ctx,
  { id, eventId }: { id: string; eventId: string },
): Promise<DeadLetterRow> {
  requirePermission(ctx, 'webhooks.manage')
  const webhook = await lockWebhook(sql, ctx, id)
  const skipped = await deleteDeadLetter(sql, ctx, { webhookId: id, eventId })
  const letter = found(skipped, 'dead letter', eventId)
  await appendEvent(sql, ctx, {
    type: 'webhook.dead_letter_skipped',
    entityType: 'webhook',
    entityId: id,
    entityVersion: webhook.version,
    workspaceId: webhook.workspaceId,
    payload: { eventId, eventType: letter.eventType },
  })
  return letter
}
