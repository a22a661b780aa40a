import { z } from 'zod'
import { coded, queryInt } from './common.ts'
import { eventFilter, Position } from './events-api.ts'
import { JournalEvent } from './events.ts'
import { route } from './route.ts'

const MAX_TAIL = 200
const MAX_LIFE_SECONDS = 86_400

const Cursor = z.string()

/**
 * What a stream says, the same over both transports. Over Server-Sent Events the name of an event of the
 * stream is the `type`, but for `event`, which has none, and its id is the cursor.
 */
export const StreamMessage = z
  .discriminatedUnion('type', [
    z.strictObject({ type: z.literal('event'), event: JournalEvent }),
    /** Everything up to here has been said, or does not match. Sent when nothing else was for a while. */
    z.strictObject({ type: z.literal('position'), cursor: Cursor }),
    /** The stream is over, the journal is not: come again with the cursor. */
    z.strictObject({
      type: z.literal('end'),
      reason: z.enum(['shutdown', 'time', 'rights_changed']),
      cursor: Cursor.nullable(),
    }),
    /** The stream is over, for the reason that a request would be refused for. */
    z.strictObject({
      type: z.literal('refused'),
      error: z.strictObject({
        code: z.string(),
        message: z.string(),
        details: z.record(z.string(), z.unknown()),
        requestId: z.string(),
      }),
    }),
  ])
  .meta({ id: 'StreamMessage' })
export type StreamMessage = z.infer<typeof StreamMessage>

const query = z
  .strictObject({
    /** Exclusive: the events after this place. Without any place, from the beginning. */
    cursor: Position.optional(),
    /** Another name for `cursor`; the header `Last-Event-ID` goes before both. */
    after: Position.optional(),
    /** The last so many events first; 0 for what happens from now on. */
    tail: z
      .string()
      .refine(
        (value) => /^\d{1,3}$/.test(value) && Number(value) <= MAX_TAIL,
        coded('invalid_limit', `must be a whole number from 0 to ${MAX_TAIL}`),
      )
      .transform(Number)
      .optional(),
    /** How long the stream lives at most; 0 for what is there now. Without it, as long as it can. */
    closeAfterSeconds: queryInt(0, MAX_LIFE_SECONDS).optional(),
    ...eventFilter,
  })
  .refine(
    ({ cursor, after, tail }) =>
      [cursor, after, tail].filter((value) => value !== undefined).length < 2,
    { path: ['cursor'], error: 'must not be combined with after or tail' },
  )

const stream = {
  method: 'GET',
  tag: 'Events',
  access: 'events.read',
  query,
  reply: StreamMessage,
  errors: [
    'not_found',
    'invalid_cursor',
    'unsupported_cursor_version',
    'cursor_below_journal_floor',
    'restore_detected',
    'invalid_limit',
    'invalid_event_type_filter',
    'rate_limited',
  ],
} as const

export const streamEvents = route({
  ...stream,
  errors: [...stream.errors],
  path: '/api/v1/events/stream',
  summary: 'Follow the journal from a cursor on as Server-Sent Events; no event is ever skipped',
  stream: 'sse',
})

export const streamEventsBySocket = route({
  ...stream,
  errors: [...stream.errors, 'upgrade_required'],
  path: '/api/v1/events/ws',
  summary: 'The same as messages of a WebSocket',
  statuses: [101],
  stream: 'websocket',
})

export const routes = { streamEvents, streamEventsBySocket }
