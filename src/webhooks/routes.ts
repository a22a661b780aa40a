import type { Hono } from 'hono'
import * as contract from '#contract/webhooks.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { createWebhook } from './create-webhook.ts'
import { deleteWebhook } from './delete-webhook.ts'
import { selectDeadLetters, selectDeliveries } from './delivery.sql.ts'
import { pauseWebhook } from './pause-webhook.ts'
import { redriveDeadLetters } from './redrive-dead-letters.ts'
import { deliveryReply, letterReply, webhookReply, withSecret } from './replies.ts'
import { resumeWebhook } from './resume-webhook.ts'
import { rotateSecret } from './rotate-secret.ts'
import { skipDeadLetter } from './skip-dead-letter.ts'
import type { Allowed } from './target.ts'
import { updateWebhook } from './update-webhook.ts'
import { selectWebhook, selectWebhooks } from './webhook.sql.ts'

export function webhooksRoutes(app: Hono, deps: Deps, options: { allowed: Allowed }): void {
  const { allowed } = options
  bind(app, deps, contract.createWebhook, async (sql, ctx, { body }) =>
    withSecret(await createWebhook(sql, ctx, { ...body, allowed })),
  )
  bind(app, deps, contract.listWebhooks, async (sql, ctx, { query }) => {
    const page = pageRequest('webhooks', query)
    return pageOf(page, await selectWebhooks(sql, ctx, page), webhookReply)
  })
  bind(app, deps, contract.getWebhook, async (sql, ctx, { params }) => await show(sql, ctx, params))
  bind(app, deps, contract.updateWebhook, async (sql, ctx, { params, body, expectedVersion }) =>
    webhookReply(await updateWebhook(sql, ctx, { ...params, ...body, expectedVersion, allowed })),
  )
  bind(app, deps, contract.deleteWebhook, async (sql, ctx, { params }) => {
    await deleteWebhook(sql, ctx, params)
    return { removed: true as const }
  })
  bind(app, deps, contract.rotateWebhookSecret, async (sql, ctx, { params, body }) =>
    withSecret(await rotateSecret(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, contract.pauseWebhook, async (sql, ctx, { params, body }) => {
    requirePermission(ctx, 'webhooks.manage')
    await pauseWebhook(sql, ctx, { ...params, ...body })
    return await show(sql, ctx, params)
  })
  bind(app, deps, contract.resumeWebhook, async (sql, ctx, { params, body }) => {
    await resumeWebhook(sql, ctx, { ...params, ...body })
    return await show(sql, ctx, params)
  })
  bindDeliveries(app, deps)
}

function bindDeliveries(app: Hono, deps: Deps): void {
  bind(app, deps, contract.listWebhookDeliveries, async (sql, ctx, { params: { id }, query }) => {
    await show(sql, ctx, { id })
    const page = pageRequest(`webhook-deliveries/${id}`, query)
    return pageOf(page, await selectDeliveries(sql, ctx, { webhookId: id, page }), deliveryReply)
  })
  bind(app, deps, contract.listDeadLetters, async (sql, ctx, { params: { id }, query }) => {
    await show(sql, ctx, { id })
    const page = pageRequest(`webhook-dead-letters/${id}`, query)
    return pageOf(page, await selectDeadLetters(sql, ctx, { webhookId: id, page }), letterReply)
  })
  bind(app, deps, contract.redriveDeadLetters, async (sql, ctx, { params }) => ({
    redriven: (await redriveDeadLetters(sql, ctx, params)).length,
  }))
  bind(app, deps, contract.redriveDeadLetter, async (sql, ctx, { params }) => {
    const [letter] = await redriveDeadLetters(sql, ctx, params)
    return letterReply(found(letter, 'dead letter', params.eventId))
  })
  bind(app, deps, contract.skipDeadLetter, async (sql, ctx, { params }) =>
    letterReply(await skipDeadLetter(sql, ctx, params)),
  )
}

async function show(sql: Sql, ctx: Ctx, { id }: { id: string }) {
  return webhookReply(found(await selectWebhook(sql, ctx, id), 'webhook', id))
}
