import { z } from 'zod'
import { coded, Id, JsonObject, page, pageQuery, text, TtlSeconds, UtcInstant } from './common.ts'
import { route } from './route.ts'
import { SKILL_PROTOCOLS } from './skills.ts'

/** What a harness may say it can do. Only ever added to; unknown ones are dropped, not refused. */
export const CAPABILITIES = [
  'events.realtime',
  'tasks.interactive',
  'artifacts.publish',
  'approvals.interactive',
  'resume',
  'checkpoints',
  'active_turn_control.v1',
  'child_run_handle.v1',
  ...SKILL_PROTOCOLS.map((protocol) => `skills.protocol.${protocol}` as const),
] as const

const PROTOCOL_VERSIONS = ['1', '2']
const HARNESS_TYPE = /^[a-z0-9][a-z0-9._-]{0,99}$/

const NewHarness = z.strictObject({
  type: z
    .string()
    .refine(
      (type) => HARNESS_TYPE.test(type),
      coded('invalid_harness', 'must be a lower-case name of at most 100 characters'),
    ),
  version: text(100).optional(),
  protocolVersion: z
    .string()
    .refine(
      (version) => PROTOCOL_VERSIONS.includes(version),
      coded('unsupported_protocol_version', 'is not supported', { supported: PROTOCOL_VERSIONS }),
    )
    .default('1'),
  capabilities: z.array(z.string().max(200)).max(100).default([]),
  hostname: text(255).optional(),
  environment: z.union([text(200), JsonObject]).optional(),
})

export const NewSession = z
  .strictObject({
    clientName: text(200),
    clientVersion: text(100).optional(),
    metadata: JsonObject.default({}),
    /** The person for whom the agent works; needs an active delegation. */
    onBehalfOf: Id.optional(),
    ttlSeconds: TtlSeconds,
    harness: NewHarness.optional(),
  })
  .meta({ id: 'NewSession' })
export type NewSession = z.output<typeof NewSession>

export const Session = z
  .strictObject({
    id: z.uuid(),
    principalId: z.uuid(),
    clientName: z.string(),
    clientVersion: z.string().nullable(),
    metadata: JsonObject,
    onBehalfOf: z.uuid().nullable(),
    harness: z
      .strictObject({
        type: z.string(),
        version: z.string().nullable(),
        protocolVersion: z.string(),
        capabilities: z.array(z.string()),
        hostname: z.string().nullable(),
        environment: z.union([z.string(), JsonObject]).nullable(),
      })
      .nullable(),
    /** `connected` when a harness introduced itself, else `human_operated`. */
    controlLevel: z.enum(['human_operated', 'connected']),
    /** `expired` from the moment its lease ends, also before that is recorded. */
    status: z.enum(['active', 'closed', 'expired']),
    ttlSeconds: z.int(),
    expiresAt: UtcInstant,
    lastHeartbeatAt: UtcInstant,
    createdAt: UtcInstant,
    endedAt: UtcInstant.nullable(),
  })
  .meta({ id: 'Session' })
export type Session = z.infer<typeof Session>

const byId = z.strictObject({ id: Id })

export const openSession = route({
  method: 'POST',
  path: '/api/v1/sessions',
  summary: 'Open a session: the lease under which claims are held',
  tag: 'Sessions',
  access: 'sessions.open',
  statuses: [201],
  errors: ['delegation_required', 'invalid_harness', 'unsupported_protocol_version', 'not_found'],
  body: NewSession,
  reply: Session,
})

export const listSessions = route({
  method: 'GET',
  path: '/api/v1/sessions',
  summary: "The caller's own sessions, newest first",
  tag: 'Sessions',
  access: 'authenticated',
  errors: ['invalid_limit', 'invalid_cursor'],
  query: z.strictObject({
    ...pageQuery,
    status: z.enum(['active', 'closed', 'expired']).optional(),
  }),
  reply: page(Session),
})

export const getSession = route({
  method: 'GET',
  path: '/api/v1/sessions/{id}',
  summary: 'One session of the caller; of anybody with sessions.manage',
  tag: 'Sessions',
  access: 'authenticated',
  errors: ['not_found'],
  params: byId,
  reply: Session,
})

export const heartbeatSession = route({
  method: 'POST',
  path: '/api/v1/sessions/{id}:heartbeat',
  summary: 'Renew the lease of a live session',
  tag: 'Sessions',
  access: 'authenticated',
  errors: [
    'not_found',
    'session_owner_mismatch',
    'session_expired',
    'session_not_active',
    'delegation_required',
  ],
  params: byId,
  body: z.strictObject({ ttlSeconds: TtlSeconds }),
  reply: Session,
})

export const closeSession = route({
  method: 'POST',
  path: '/api/v1/sessions/{id}:close',
  summary: 'Close a session and release its claims',
  tag: 'Sessions',
  access: 'authenticated',
  errors: ['not_found', 'session_owner_mismatch', 'session_expired', 'session_not_active'],
  params: byId,
  reply: Session,
})

export const routes = { openSession, listSessions, getSession, heartbeatSession, closeSession }
