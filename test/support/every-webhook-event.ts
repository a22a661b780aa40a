import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as webhooks from '#contract/webhooks.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { upsertDeadLetter } from '#webhooks/delivery.sql.ts'
import type { Walk } from './walk.ts'

/** A webhook from its making to its end; one whose events were given up is in the tests of its area. */
export async function walkWebhooks({ make, kept }: Walk): Promise<void> {
  const url = `https://example.com/${kept('address of a webhook')}`
  const description = kept('description of a webhook')
  const { id, version } = await make(webhooks.createWebhook, { body: { url, description } })
  const params = { id }
  const later = { description: kept('later description of a webhook') }
  await make(webhooks.updateWebhook, { params, ifMatch: version, body: later })
  await make(webhooks.rotateWebhookSecret, { params })
  await make(webhooks.pauseWebhook, { params, body: { reason: kept('reason of a pause') } })
  await make(webhooks.resumeWebhook, { params })
  await make(webhooks.deleteWebhook, { params })
}

/** What happens to an event that was given up, as no worker of the test does. */
export async function makeLetterEvents(
  { db, ctx }: { db: Database; ctx: Ctx },
  client: ClientOptions,
): Promise<void> {
  const url = 'https://example.com/'
  const { id: webhookId } = await call(client, webhooks.createWebhook, { body: { url } })
  const eventId = newId()
  const position = { journalEpoch: 1, txId: '1', sequence: '1' }
  const letter = { webhookId, id: eventId, eventType: 'task.created', position, attempts: 8 }
  await upsertDeadLetter(db, ctx, { ...letter, httpStatus: null, error: null })
  const params = { id: webhookId, eventId }
  await call(client, webhooks.redriveDeadLetter, { params })
  await call(client, webhooks.skipDeadLetter, { params })
}
