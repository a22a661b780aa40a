import { z } from 'zod'

/** Events of webhooks; see `EVENTS`. Only the host of an address is told: the rest may let people in. */
export const WEBHOOK_EVENTS = {
  'webhook.created': z.strictObject({ ownerId: z.uuid(), host: z.string() }),
  'webhook.updated': z.strictObject({
    changes: z.array(z.string()),
    host: z.string(),
    version: z.int(),
  }),
  'webhook.deleted': z.strictObject({ host: z.string() }),
  'webhook.secret_rotated': z.strictObject({ previousUntil: z.string() }),
  'webhook.paused': z.strictObject({ reason: z.string() }),
  'webhook.resumed': z.strictObject({ cursor: z.string() }),
  'webhook.dead_letters_redriven': z.strictObject({ letters: z.int() }),
  'webhook.dead_letter_skipped': z.strictObject({ eventId: z.uuid(), eventType: z.string() }),
} as const satisfies Record<string, z.ZodType>
