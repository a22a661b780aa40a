import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import { wantTurn } from '#events/leased-consumers.ts'
import type { Ctx } from '#lib/ctx.ts'
import { requirePermission } from '#org/permission.ts'
import { updateRedriven } from './delivery.sql.ts'
import type { DeadLetterRow } from './delivery.sql.ts'
import { lockWebhook } from './lock-webhook.ts'
import { consumerName } from './webhook.ts'

/**
 * Asks for one more attempt at an event that was given up, or at all of them; a webhook that is paused
 * makes it when it is resumed. Answers the letters. Throws `not_found` for the webhook.
 */
export async function redriveDeadLetters(
  sql: Sql,
  ctx: Ctx,
  { id, eventId }: { id: string; eventId?: string },
): Promise<DeadLetterRow[]> {
  requirePermission(ctx, 'webhooks.manage')
  const webhook = await lockWebhook(sql, ctx, id)
  await wantTurn(sql, consumerName(id), ctx.tenantId)
  const letters = await updateRedriven(sql, ctx, { webhookId: id, eventId })
  if (letters.length === 0) return letters
  await appendEvent(sql, ctx, {
    type: 'webhook.dead_letters_redriven',
    entityType: 'webhook',
    entityId: id,
    entityVersion: webhook.version,
    workspaceId: webhook.workspaceId,
    payload: { letters: letters.length },
  })
  return letters
}
