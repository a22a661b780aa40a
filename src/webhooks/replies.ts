import type { z } from 'zod'
import type { DeadLetter, Webhook, WebhookDelivery } from '#contract/webhooks.ts'
import { encodeCursor } from '#events/cursor.ts'
import type { DeadLetterRow, WebhookDeliveryRow } from './delivery.sql.ts'
import { secretText } from './sign.ts'
import type { WebhookRow } from './webhook.sql.ts'

export function webhookReply(row: WebhookRow): Webhook {
  const { position, failureCount, reason, nextAttemptAt, previousUntil, createdAt, ...rest } = row
  return {
    ...rest,
    cursor: encodeCursor(position),
    failures: failureCount,
    lastError: failureCount > 0 ? reason : null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    previousSecretUntil: previousUntil?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  }
}

export function withSecret({ secret, ...row }: WebhookRow & { secret: Uint8Array }) {
  return { ...webhookReply(row), secret: secretText(secret) }
}

export function deliveryReply(row: WebhookDeliveryRow): z.output<typeof WebhookDelivery> {
  return { ...row, createdAt: row.createdAt.toISOString() }
}

export function letterReply(row: DeadLetterRow): z.output<typeof DeadLetter> {
  const { id, position, redriveAt, createdAt, ...rest } = row
  return {
    ...rest,
    eventId: id,
    cursor: encodeCursor(position),
    redriving: redriveAt !== null,
    createdAt: createdAt.toISOString(),
  }
}
