import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import { insertLeasedConsumer } from '#events/leased-consumers.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requirePermission, requirePlace } from '#org/permission.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { newSecret } from './sign.ts'
import { startPlace } from './start-place.ts'
import { hostOf, targetOf } from './target.ts'
import type { Allowed } from './target.ts'
import { consumerName } from './webhook.ts'
import { countWebhooks, insertWebhook, selectWebhook } from './webhook.sql.ts'
import type { WebhookFilter, WebhookRow } from './webhook.sql.ts'

export interface NewWebhook {
  url: string
  description: string
  workspaceId: string | null
  filter: WebhookFilter
  after?: string | undefined
}

/** In one tenant: every worker looks at each of them whenever it looks for work. */
const MAX_WEBHOOKS = 100

/**
 * Tells an address of events, as far as the caller may read them, from a place in the journal on; the
 * answer has the secret. Throws `not_found`, `permission_denied`, `invalid_request` for an address that
 * may not be called, and what `startPlace` throws.
 */
export async function createWebhook(
  sql: Sql,
  ctx: Ctx,
  input: NewWebhook & { allowed: Allowed },
): Promise<WebhookRow & { secret: Uint8Array }> {
  requirePermission(ctx, 'webhooks.manage')
  requirePermission(ctx, 'events.read')
  const { workspaceId, description, filter, after, allowed } = input
  requirePlace(ctx, workspaceId)
  const url = targetOf(input.url, allowed)
  const id = newId()
  await lockEntities(sql, ctx, [
    { type: 'webhooks', id: ctx.tenantId },
    { type: 'webhook', id },
  ])
  if (workspaceId !== null) {
    found(await selectWorkspace(sql, ctx, workspaceId), 'workspace', workspaceId)
  }
  if ((await countWebhooks(sql, ctx)) >= MAX_WEBHOOKS) {
    throw new AppError('invalid_request', `Cannot add a webhook: ${MAX_WEBHOOKS} are there`)
  }
  const secret = newSecret()
  const position = await startPlace(sql, ctx, after)
  await insertLeasedConsumer(sql, { name: consumerName(id), tenantId: ctx.tenantId, position })
  const ownerId = ctx.actorId
  await insertWebhook(sql, ctx, { id, ownerId, workspaceId, url, description, filter, secret })
  await appendEvent(sql, ctx, {
    type: 'webhook.created',
    entityType: 'webhook',
    entityId: id,
    entityVersion: 1,
    workspaceId,
    payload: { ownerId, host: hostOf(new URL(url)) },
  })
  return { ...found(await selectWebhook(sql, ctx, id), 'webhook', id), secret }
}
