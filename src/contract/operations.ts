import { z } from 'zod'
import { text, UtcInstant } from './common.ts'
import { route } from './route.ts'

const tag = 'Operations'

export const ConsumerStatus = z.enum(['ok', 'retrying', 'parked', 'paused'])

/** Where delivery to memory stands for the caller's tenant; the same shape before the first cycle. */
export const AdapterStatus = z
  .strictObject({
    consumer: z.string(),
    tenantId: z.uuid(),
    status: ConsumerStatus,
    cursor: z.string(),
    /** Events after the cursor, counted up to 1000. */
    lagEvents: z.int().min(0),
    lagCapped: z.boolean(),
    /** Age of the first event that memory does not have yet. */
    lagSeconds: z.number().min(0),
    parked: z.boolean(),
    parkedAt: UtcInstant.nullable(),
    parkedReason: z.string().nullable(),
    parkedEventId: z.uuid().nullable(),
    failureCount: z.int(),
    nextAttemptAt: UtcInstant.nullable(),
    updatedAt: UtcInstant.nullable(),
    deliveredTotal: z.int(),
    duplicatesTotal: z.int(),
    failuresTotal: z.int(),
    redrivesTotal: z.int(),
    rebuildsTotal: z.int(),
    lastError: z.string().nullable(),
    lastDeliveryAt: UtcInstant.nullable(),
    journal: z.strictObject({
      journalFloorCursor: z.string().nullable(),
      archiveFloorCursor: z.string().nullable(),
    }),
  })
  .meta({ id: 'AdapterStatus' })
export type AdapterStatus = z.infer<typeof AdapterStatus>

export const getAdapterStatus = route({
  method: 'GET',
  path: '/api/v1/operations/context-adapter',
  summary: 'Where delivery to memory stands (operations.read or operations.manage)',
  tag,
  access: 'authenticated',
  reply: AdapterStatus,
  errors: ['permission_denied'],
})

export const redriveAdapter = route({
  method: 'POST',
  path: '/api/v1/operations/context-adapter/{tenantId}:redrive',
  summary: 'Try the same position again at once, after its cause has been removed',
  tag,
  access: 'operations.manage',
  params: z.strictObject({ tenantId: z.uuid() }),
  body: z.strictObject({ reason: text(2000) }),
  reply: AdapterStatus,
  errors: ['not_found'],
})

export const rebuildAdapter = route({
  method: 'POST',
  path: '/api/v1/operations/context-adapter/{tenantId}:rebuild',
  summary: 'Replay the journal into memory, from the start or from an earlier cursor',
  tag,
  access: 'operations.manage',
  params: z.strictObject({ tenantId: z.uuid() }),
  body: z.strictObject({ cursor: z.string().max(512).optional(), reason: text(2000) }),
  reply: AdapterStatus,
  errors: [
    'not_found',
    'cursor_must_not_advance',
    'cursor_below_journal_floor',
    'invalid_cursor',
    'unsupported_cursor_version',
  ],
})

export const routes = { getAdapterStatus, redriveAdapter, rebuildAdapter }
