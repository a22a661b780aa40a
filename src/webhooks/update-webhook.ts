import { isDeepStrictEqual } from 'node:util'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { requirePermission } from '#org/permission.ts'
import { requireVersion } from '#org/version.ts'
import { lockWebhook } from './lock-webhook.ts'
import { hostOf, targetOf } from './target.ts'
import type { Allowed } from './target.ts'
import { selectWebhook, updateWebhookRow } from './webhook.sql.ts'
import type { WebhookChange, WebhookRow } from './webhook.sql.ts'

export interface WebhookPatch extends WebhookChange {
  expectedVersion: number
  allowed: Allowed
}

/**
 * Changes where events go, or which. Messages that are under way still go to the address before. Throws
 * `not_found`, `version_conflict` and what a new webhook is refused for; a patch that changes nothing writes
 * nothing.
 */
export async function updateWebhook(sql: Sql, ctx: Ctx, patch: WebhookPatch): Promise<WebhookRow> {
  requirePermission(ctx, 'webhooks.manage')
  requirePermission(ctx, 'events.read')
  const { id, description, filter, expectedVersion, allowed } = patch
  const url = patch.url === undefined ? undefined : targetOf(patch.url, allowed)
  const before = await lockWebhook(sql, ctx, id)
  requireVersion('webhook', before, expectedVersion)
  const given = { url, description, filter }
  const changes = (['url', 'description', 'filter'] as const).filter(
    (name) => given[name] !== undefined && !isDeepStrictEqual(given[name], before[name]),
  )
  if (changes.length === 0) return before
  await updateWebhookRow(sql, ctx, { id, ...given })
  const after = (await selectWebhook(sql, ctx, id)) ?? before
  await appendEvent(sql, ctx, {
    type: 'webhook.updated',
    entityType: 'webhook',
    entityId: id,
    entityVersion: after.version,
    workspaceId: after.workspaceId,
    payload: { changes, host: hostOf(new URL(after.url)), version: after.version },
  })
  return after
}
