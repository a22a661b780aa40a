import { z } from 'zod'
import { FencingToken, Id, Limit, text, UtcInstant } from './common.ts'
import { route } from './route.ts'
import { RUN_REFUSALS } from './runs.ts'

/**
 * What can be said to a run while it works: `queue` after what it is doing, `steer` while it goes on,
 * `redirect` instead of it, `request_cancel` to stop, `force_cancel` to be stopped at once.
 */
export const CONTROL_KINDS = [
  'queue',
  'steer',
  'redirect',
  'request_cancel',
  'force_cancel',
] as const
export type ControlKind = (typeof CONTROL_KINDS)[number]

export const CONTROL_STATUSES = ['accepted', 'applied', 'rejected', 'superseded'] as const
const SETTLED = ['applied', 'rejected', 'superseded'] as const
const CANCELS: readonly ControlKind[] = ['request_cancel', 'force_cancel']

export const ControlMessage = z
  .strictObject({
    id: z.uuid(),
    runId: z.uuid(),
    /** 1 for the first message to the run; they are acknowledged in this order. */
    sequence: z.int(),
    kind: z.enum(CONTROL_KINDS),
    message: z.string().nullable(),
    /** What was still `accepted` when its run ended shows as `superseded`. */
    status: z.enum(CONTROL_STATUSES),
    /** The principal that sent it. */
    authorId: z.uuid(),
    /** How far the run was when the message was accepted; `runVersion` is the run's since then. */
    causalPosition: z.strictObject({
      runVersion: z.int(),
      checkpointSequence: z.int(),
      actionSequence: z.int(),
    }),
    /** Where in its work the holder applied it. */
    safeBoundary: z.string().nullable(),
    note: z.string().nullable(),
    createdAt: UtcInstant,
    settledAt: UtcInstant.nullable(),
    /** Reading on from here misses no later message. */
    cursor: z.string(),
  })
  .meta({ id: 'ControlMessage' })
export type ControlMessage = z.infer<typeof ControlMessage>

const ofRun = z.strictObject({ id: Id })

export const sendControlMessage = route({
  method: 'POST',
  path: '/api/v1/runs/{id}/control-messages',
  summary: 'Say something to a run while it works; force_cancel needs claims.manage',
  tag: 'Run control',
  access: 'tasks.write',
  statuses: [201],
  errors: [
    'not_found',
    'permission_denied',
    'run_not_active',
    'version_conflict',
    'idempotency_key_required',
    'secret_refused',
  ],
  idempotencyKey: 'required',
  params: ofRun,
  body: z
    .strictObject({
      kind: z.enum(CONTROL_KINDS),
      message: text(20_000).optional(),
      /** The version of the run that the sender knows: what happened since could change their mind. */
      expectedRunVersion: z.int().min(1).max(2_147_483_647),
    })
    .refine((body) => body.message !== undefined || CANCELS.includes(body.kind), {
      path: ['message'],
      error: 'is needed for this kind',
    }),
  reply: ControlMessage,
})

export const acknowledgeControlMessage = route({
  method: 'POST',
  path: '/api/v1/runs/{id}/control-messages/{messageId}:acknowledge',
  summary: 'Tell what became of the next message; the holder of the live claim does, in order',
  tag: 'Run control',
  access: 'tasks.claim',
  errors: [
    ...RUN_REFUSALS,
    'control_message_settled',
    'control_message_out_of_order',
    'secret_refused',
  ],
  params: z.strictObject({ id: Id, messageId: Id }),
  body: z
    .strictObject({
      fencingToken: FencingToken,
      status: z.enum(SETTLED),
      /** Where it was safe to apply it: `turn_end`, `between_actions`; only and always for `applied`. */
      safeBoundary: z
        .string()
        .regex(/^[a-z][a-z0-9_.-]{0,63}$/, 'must be a lower-case name')
        .optional(),
      note: text(2000).optional(),
    })
    .refine((body) => body.status !== 'applied' || body.safeBoundary !== undefined, {
      path: ['safeBoundary'],
      error: 'is needed for applied',
    })
    .refine((body) => body.status === 'applied' || body.safeBoundary === undefined, {
      path: ['safeBoundary'],
      error: 'is for applied alone',
    }),
  reply: ControlMessage,
})

export const listControlMessages = route({
  method: 'GET',
  path: '/api/v1/runs/{id}/control-messages',
  summary: 'Messages to a run, oldest first',
  tag: 'Run control',
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor', 'unsupported_cursor_version'],
  params: ofRun,
  query: z.strictObject({
    limit: Limit,
    /** After this message: `nextCursor`, or the `cursor` of the last message seen. */
    cursor: z.string().max(512).optional(),
    status: z.enum(CONTROL_STATUSES).optional(),
  }),
  reply: z.strictObject({
    items: z.array(ControlMessage),
    /** Null on the last page; then the last item's `cursor` goes on. */
    nextCursor: z.string().nullable(),
  }),
})

export const routes = { sendControlMessage, acknowledgeControlMessage, listControlMessages }
