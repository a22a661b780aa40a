import { z } from 'zod'
import { Id, page, pageQuery, text, UtcInstant } from './common.ts'
import { Position, TypePrefix } from './events-api.ts'
import { route } from './route.ts'

const byId = z.strictObject({ id: Id })
const pageErrors = ['invalid_limit', 'invalid_cursor'] as const

const MAX_TYPES = 20
const WEEK_SECONDS = 604_800
const DAY_SECONDS = 86_400

/** What is told; everything that the owner may read unless it is narrowed. */
const Filter = z.strictObject({
  /** Prefixes of types: `run.` or `task.created`. */
  types: z.array(TypePrefix).min(1).max(MAX_TYPES).optional(),
  entityType: text(100).optional(),
  entityId: text(200).optional(),
})

/** Somebody who is told of events by messages to an address. */
export const Webhook = z
  .strictObject({
    id: z.uuid(),
    url: z.string(),
    description: z.string(),
    /** Whose rights decide what is told. */
    ownerId: z.uuid(),
    /** Only what belongs to it or is below it is told; null for the whole tenant. */
    workspaceId: z.uuid().nullable(),
    filter: z.strictObject({
      types: z.array(z.string()).optional(),
      entityType: z.string().optional(),
      entityId: z.string().optional(),
    }),
    status: z.enum(['active', 'paused']),
    /** Null while it is active. */
    pauseReason: z.string().nullable(),
    /** Behind the last event that has been delivered, passed over or given up. */
    cursor: z.string(),
    /** Attempts that failed in a row at the event behind the cursor. */
    failures: z.int(),
    lastError: z.string().nullable(),
    nextAttemptAt: UtcInstant.nullable(),
    /** Events that were given up and that nobody has decided about. */
    deadLetters: z.int(),
    /** Until when the secret before the present one signs too. */
    previousSecretUntil: UtcInstant.nullable(),
    version: z.int(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Webhook' })
export type Webhook = z.infer<typeof Webhook>

/** Shown once; `null` when the answer is that of an earlier request with the same Idempotency-Key. */
const secret = z.string().nullable()
const WebhookWithSecret = Webhook.extend({ secret }).meta({ id: 'WebhookWithSecret' })

export const WebhookDelivery = z
  .strictObject({
    id: z.uuid(),
    eventId: z.uuid(),
    eventType: z.string(),
    attempt: z.int(),
    /** `dead`: the last attempt failed too, and the event was given up. */
    outcome: z.enum(['delivered', 'failed', 'dead']),
    httpStatus: z.int().nullable(),
    error: z.string().nullable(),
    durationMs: z.int(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'WebhookDelivery' })

export const DeadLetter = z
  .strictObject({
    eventId: z.uuid(),
    eventType: z.string(),
    /** Of the event: it can be read from the place before. */
    cursor: z.string(),
    attempts: z.int(),
    httpStatus: z.int().nullable(),
    error: z.string().nullable(),
    /** True between the wish for another attempt and that attempt. */
    redriving: z.boolean(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'DeadLetter' })

const Url = z.string().min(1).max(2048)
const description = z.string().max(500)

export const createWebhook = route({
  method: 'POST',
  path: '/api/v1/webhooks',
  summary: 'Tell an address of events; the secret that signs the messages is shown once',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  body: z.strictObject({
    url: Url,
    description: description.default(''),
    workspaceId: Id.nullable().default(null),
    filter: Filter.default({}),
    /** Exclusive: where to begin in the journal. Without it, with what happens from now on. */
    after: Position.optional(),
  }),
  reply: WebhookWithSecret,
  statuses: [201],
  etag: 'webhook',
  secretFields: ['secret'],
  errors: [
    'not_found',
    'invalid_cursor',
    'unsupported_cursor_version',
    'cursor_below_journal_floor',
    'restore_detected',
    'invalid_event_type_filter',
  ],
})

export const listWebhooks = route({
  method: 'GET',
  path: '/api/v1/webhooks',
  summary: 'List webhooks, newest first',
  tag: 'Webhooks',
  access: 'webhooks.read',
  query: z.strictObject(pageQuery),
  reply: page(Webhook),
  errors: [...pageErrors],
})

export const getWebhook = route({
  method: 'GET',
  path: '/api/v1/webhooks/{id}',
  summary: 'Read a webhook, where it stands and what holds it up',
  tag: 'Webhooks',
  access: 'webhooks.read',
  params: byId,
  reply: Webhook,
  etag: 'webhook',
  errors: ['not_found'],
})

export const updateWebhook = route({
  method: 'PATCH',
  path: '/api/v1/webhooks/{id}',
  summary: 'Change the address, the filter or the description; what is omitted stays',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  params: byId,
  body: z.strictObject({
    url: Url.optional(),
    description: description.optional(),
    filter: Filter.optional(),
  }),
  reply: Webhook,
  etag: 'webhook',
  ifMatch: 'webhook',
  errors: ['not_found', 'version_conflict', 'invalid_event_type_filter'],
})

export const deleteWebhook = route({
  method: 'DELETE',
  path: '/api/v1/webhooks/{id}',
  summary: 'Remove a webhook with its log and its dead letters',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  params: byId,
  reply: z.strictObject({ removed: z.literal(true) }),
  errors: ['not_found'],
})

export const rotateWebhookSecret = route({
  method: 'POST',
  path: '/api/v1/webhooks/{id}:rotate-secret',
  summary: 'Make a new secret; for a while messages are signed with both',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  params: byId,
  body: z.strictObject({
    overlapSeconds: z.int().min(0).max(WEEK_SECONDS).default(DAY_SECONDS),
  }),
  reply: WebhookWithSecret,
  etag: 'webhook',
  secretFields: ['secret'],
  errors: ['not_found'],
})

export const pauseWebhook = route({
  method: 'POST',
  path: '/api/v1/webhooks/{id}:pause',
  summary: 'Send nothing more until it is resumed; the journal is not kept for it meanwhile',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  params: byId,
  body: z.strictObject({ reason: text(200).default('by request') }),
  reply: Webhook,
  etag: 'webhook',
  errors: ['not_found'],
})

export const resumeWebhook = route({
  method: 'POST',
  path: '/api/v1/webhooks/{id}:resume',
  summary: 'Send again, from where it stands or from another place',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  params: byId,
  body: z.strictObject({ after: Position.optional() }),
  reply: Webhook,
  etag: 'webhook',
  errors: [
    'not_found',
    'invalid_cursor',
    'unsupported_cursor_version',
    'cursor_below_journal_floor',
    'restore_detected',
  ],
})

export const listWebhookDeliveries = route({
  method: 'GET',
  path: '/api/v1/webhooks/{id}/deliveries',
  summary: 'List the last attempts, newest first',
  tag: 'Webhooks',
  access: 'webhooks.read',
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(WebhookDelivery),
  errors: ['not_found', ...pageErrors],
})

export const listDeadLetters = route({
  method: 'GET',
  path: '/api/v1/webhooks/{id}/dead-letters',
  summary: 'List the events that were given up, newest first',
  tag: 'Webhooks',
  access: 'webhooks.read',
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(DeadLetter),
  errors: ['not_found', ...pageErrors],
})

export const redriveDeadLetters = route({
  method: 'POST',
  path: '/api/v1/webhooks/{id}/dead-letters:redrive',
  summary: 'Try every event that was given up once more, oldest first',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  params: byId,
  reply: z.strictObject({ redriven: z.int() }),
  errors: ['not_found'],
})

const byLetter = z.strictObject({ id: Id, eventId: Id })

export const redriveDeadLetter = route({
  method: 'POST',
  path: '/api/v1/webhooks/{id}/dead-letters/{eventId}:redrive',
  summary: 'Try an event that was given up once more',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  params: byLetter,
  reply: DeadLetter,
  errors: ['not_found'],
})

export const skipDeadLetter = route({
  method: 'POST',
  path: '/api/v1/webhooks/{id}/dead-letters/{eventId}:skip',
  summary: 'Strike an event that was given up off the list: it is never delivered',
  tag: 'Webhooks',
  access: 'webhooks.manage',
  params: byLetter,
  reply: DeadLetter,
  errors: ['not_found'],
})

/** Every route of this file, for the API document, the clients and the checks that all are bound. */
export const routes = {
  createWebhook,
  listWebhooks,
  getWebhook,
  updateWebhook,
  deleteWebhook,
  rotateWebhookSecret,
  pauseWebhook,
  resumeWebhook,
  listWebhookDeliveries,
  listDeadLetters,
  redriveDeadLetters,
  redriveDeadLetter,
  skipDeadLetter,
}
