import type { Sql } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectWebhook } from './webhook.sql.ts'
import type { WebhookRow } from './webhook.sql.ts'

/**
 * A webhook that nobody else changes until the transaction ends; must be its first statement. Whoever
 * writes both writes its row in the list of consumers first, as the workers do. Throws `not_found`.
 */
export async function lockWebhook(sql: Sql, ctx: Tenancy, id: string): Promise<WebhookRow> {
  await lockEntities(sql, ctx, [{ type: 'webhook', id }])
  return found(await selectWebhook(sql, ctx, id), 'webhook', id)
}
