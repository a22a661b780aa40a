import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import { deleteConsumer } from '#events/leased-consumers.ts'
import type { Ctx } from '#lib/ctx.ts'
import { requirePermission } from '#org/permission.ts'
import { lockWebhook } from './lock-webhook.ts'
import { hostOf } from './target.ts'
import { consumerName } from './webhook.ts'
import { deleteWebhookRow } from './webhook.sql.ts'

/** Removes a webhook with all that is remembered of it. Throws `not_found`. */
export async function deleteWebhook(sql: Sql, ctx: Ctx, { id }: { id: string }): Promise<void> {
  requirePermission(ctx, 'webhooks.manage')
  const webhook = await lockWebhook(sql, ctx, id)
  await deleteConsumer(sql, consumerName(id), ctx.tenantId)
  await deleteWebhookRow(sql, ctx, id)
  await appendEvent(sql, ctx, {
    type: 'webhook.deleted',
    entityType: 'webhook',
    entityId: id,
    entityVersion: webhook.version + 1,
    workspaceId: webhook.workspaceId,
    payload: { host: hostOf(new URL(webhook.url)) },
  })
}
