import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import { pauseLeased } from '#events/leased-consumers.ts'
import type { Author } from '#lib/ctx.ts'
import { lockWebhook } from './lock-webhook.ts'
import { consumerName } from './webhook.ts'
import { updateWebhookStatus } from './webhook.sql.ts'

/**
 * Sends nothing more to a webhook until it is resumed: an attempt that is under way may still arrive, and
 * is then made again. What it has not been told may leave the journal meanwhile. Changes nothing when it is
 * paused already. Throws `not_found`. The first statement of its transaction, or after `lockWebhook`.
 */
export async function pauseWebhook(
  sql: Sql,
  author: Author,
  { id, reason }: { id: string; reason: string },
): Promise<void> {
  const { status, workspaceId } = await lockWebhook(sql, author, id)
  if (status === 'paused') return
  await pauseLeased(sql, consumerName(id), { tenantId: author.tenantId, reason })
  const entityVersion = await updateWebhookStatus(sql, author, { id, pauseReason: reason })
  await appendEvent(sql, author, {
    type: 'webhook.paused',
    entityType: 'webhook',
    entityId: id,
    entityVersion,
    workspaceId,
    payload: { reason },
  })
}
