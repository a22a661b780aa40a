import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { lockWebhook } from './lock-webhook.ts'
import { newSecret } from './sign.ts'
import { selectWebhook, updateWebhookSecret } from './webhook.sql.ts'
import type { WebhookRow } from './webhook.sql.ts'

/**
 * Gives a webhook a new secret, which is in the answer. For as long as asked, messages carry a signature
 * by the one before too, so that its receiver can change over in between. Throws `not_found`.
 */
export async function rotateSecret(
  sql: Sql,
  ctx: Ctx,
  { id, overlapSeconds }: { id: string; overlapSeconds: number },
): Promise<WebhookRow & { secret: Uint8Array }> {
  requirePermission(ctx, 'webhooks.manage')
  await lockWebhook(sql, ctx, id)
  const secret = newSecret()
  const previousUntil = await updateWebhookSecret(sql, ctx, { id, secret, overlapSeconds })
  const after = found(await selectWebhook(sql, ctx, id), 'webhook', id)
  await appendEvent(sql, ctx, {
    type: 'webhook.secret_rotated',
    entityType: 'webhook',
    entityId: id,
    entityVersion: after.version,
    workspaceId: after.workspaceId,
    payload: { previousUntil: previousUntil.toISOString() },
  })
  return { ...after, secret }
}
