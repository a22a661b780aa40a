import { z } from 'zod'
import { text, UtcInstant } from './common.ts'
import { ConsumerStatus } from './operations.ts'
import { route } from './route.ts'

const tag = 'Operations'

const Cursor = z.string().nullable()

const floors = {
  /** Every event up to here is in the archive or gone; null when none has been moved. */
  journalFloorCursor: Cursor,
  /** Every event up to here is gone; null when none is. */
  archiveFloorCursor: Cursor,
}

/** What holds back every reader on the database server: a transaction that writes and does not end. */
export const HorizonBlocker = z
  .strictObject({
    kind: z.enum(['session', 'prepared_transaction']),
    pid: z.int().nullable(),
    database: z.string().nullable(),
    applicationName: z.string().nullable(),
    state: z.string().nullable(),
    /** Null where the account of the control plane may not see it. */
    ageSeconds: z.number().nullable(),
  })
  .meta({ id: 'HorizonBlocker' })

export const JournalStatus = z
  .strictObject({
    tenantId: z.uuid(),
    journalEpoch: z.int(),
    /** Place of the last event that readers can see. */
    headCursor: z.string(),
    ...floors,
    /** Age of the oldest event of the tenant that is committed and not yet shown. */
    horizonLagSeconds: z.number().min(0),
    /** The oldest writing transaction on the server at the moment. */
    blocker: HorizonBlocker.nullable(),
    retention: z.strictObject({ minAgeSeconds: z.int() }),
    consumers: z.array(
      z.strictObject({
        name: z.string(),
        cursor: z.string(),
        status: ConsumerStatus,
        updatedAt: UtcInstant,
      }),
    ),
  })
  .meta({ id: 'JournalStatus' })
export type JournalStatus = z.infer<typeof JournalStatus>

export const getJournalStatus = route({
  method: 'GET',
  path: '/api/v1/operations/journal',
  summary: 'Where the journal begins and ends, and what holds its readers back',
  tag,
  access: 'authenticated',
  reply: JournalStatus,
  errors: ['permission_denied'],
})

const MAX_EVENTS = 50_000
const DEFAULT_EVENTS = 10_000

const RetentionRequest = z.strictObject({
  /** At most so many events are moved. */
  maxEvents: z.int().min(1).max(MAX_EVENTS).default(DEFAULT_EVENTS),
  /** Leave what is younger; the server's own minimum holds in any case. */
  minAgeSeconds: z
    .int()
    .min(0)
    .max(10 ** 9)
    .optional(),
  /** Go on although nothing has ever read the tenant's journal, as in an installation without memory. */
  withoutConsumer: z.boolean().default(false),
  reason: text(2000),
})

const RetentionReply = z
  .strictObject({
    events: z.int(),
    /** Why no more: the limit of the request, a consumer that has not read on, the age, an open transaction. */
    limitedBy: z.enum(['max_events', 'consumer', 'age', 'open_transaction', 'done']),
    ...floors,
  })
  .meta({ id: 'JournalRetention' })
export type RetentionReply = z.infer<typeof RetentionReply>

export const archiveJournal = route({
  method: 'POST',
  path: '/api/v1/operations/journal:archive',
  summary:
    'Move old events that every consumer has read to the archive, where they can still be read',
  tag,
  access: 'operations.manage',
  body: RetentionRequest,
  reply: RetentionReply,
  errors: ['retention_blocked_by_consumer'],
})

export const pruneJournal = route({
  method: 'POST',
  path: '/api/v1/operations/journal:prune',
  summary: 'Delete archived events for good',
  tag,
  access: 'operations.manage',
  body: RetentionRequest,
  reply: RetentionReply,
  errors: ['retention_blocked_by_consumer'],
})

export const routes = { getJournalStatus, archiveJournal, pruneJournal }
