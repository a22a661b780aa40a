import { z } from 'zod'
import { coded, Id, Instant, Limit, PageSize, text } from './common.ts'
import { JournalEvent } from './events.ts'
import { route } from './route.ts'

const MAX_TYPE_FILTERS = 20
const TYPE_PREFIX = /^(?=.{1,100}$)[a-z][a-z0-9_]*(\.[a-z0-9_]*)*$/

/** Prefixes of event types, repeated or separated by commas: `run.` or `task.created`. */
const TypeFilter = z
  .union([z.string(), z.array(z.string())])
  .transform((value) => [value].flat().flatMap((part) => part.split(',')))
  .refine(
    (types) => types.length <= MAX_TYPE_FILTERS && types.every((type) => TYPE_PREFIX.test(type)),
    coded(
      'invalid_event_type_filter',
      `must be at most ${MAX_TYPE_FILTERS} prefixes of event types such as "run." or "task.created"`,
    ),
  )

/** One of them, in a body. */
export const TypePrefix = z
  .string()
  .max(200)
  .refine(
    (type) => TYPE_PREFIX.test(type),
    coded('invalid_event_type_filter', 'must be a prefix of event types such as "run."'),
  )

export const Position = z.string().max(512)

/** What narrows the events that are read. */
export const eventFilter = {
  entityType: text(100).optional(),
  entityId: text(200).optional(),
  types: TypeFilter.optional(),
  /** What belongs to the workspace or to one that is below it now. */
  workspaceId: z.uuid().optional(),
  /** What this principal did. */
  actorId: Id.optional(),
  /** What happened at this moment or later. */
  from: Instant.optional(),
  /** What happened before this moment. */
  to: Instant.optional(),
}

export const listEvents = route({
  method: 'GET',
  path: '/api/v1/events',
  summary: 'Read the journal from a cursor on, oldest first; no event is ever skipped',
  tag: 'Events',
  access: 'events.read',
  query: z
    .strictObject({
      /** Exclusive: the events after this place. Without any place, from the beginning. */
      cursor: Position.optional(),
      /** Another name for `cursor`. */
      after: Position.optional(),
      /** The last so many events. */
      tail: PageSize.optional(),
      /** Exclusive: the last events before this place. */
      before: Position.optional(),
      limit: Limit,
      ...eventFilter,
    })
    .refine(
      ({ cursor, after, tail, before }) =>
        [cursor, after, tail, before].filter((value) => value !== undefined).length < 2,
      { path: ['cursor'], error: 'must not be combined with after, tail or before' },
    ),
  reply: z.strictObject({
    items: z.array(JournalEvent),
    /** Where to go on; the cursor that was given when nothing new is there. */
    nextCursor: z.string(),
    /** For `before`, to read what is older; null when nothing is here to start from. */
    prevCursor: z.string().nullable(),
    /** Whether there is more in the direction that was read: older for `tail` and `before`. */
    hasMore: z.boolean(),
  }),
  errors: [
    'not_found',
    'invalid_cursor',
    'unsupported_cursor_version',
    'cursor_below_journal_floor',
    'restore_detected',
    'invalid_limit',
    'invalid_event_type_filter',
  ],
})

export const routes = { listEvents }
