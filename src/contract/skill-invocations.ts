import { z } from 'zod'
import {
  FencingToken,
  Id,
  JsonObject,
  page,
  pageQuery,
  queryBool,
  smallJsonObject,
  text,
  UtcInstant,
} from './common.ts'
import { route } from './route.ts'
import { RUN_REFUSALS } from './runs.ts'
import { SkillContract, SkillProtocol } from './skills.ts'

export const INVOCATION_STATUSES = [
  'pending',
  'running',
  'succeeded',
  'failed',
  'cancelled',
] as const
export const InvocationStatus = z.enum(INVOCATION_STATUSES)
export type InvocationStatus = z.infer<typeof InvocationStatus>

const MAX_DATA_BYTES = 65_536

const InvocationError = z.strictObject({
  /** A word that programs can go by. */
  code: z
    .string()
    .regex(/^[a-z0-9][a-z0-9._-]{0,99}$/, 'must be a lower-case name')
    .default('failed'),
  message: text(2000),
})
export type InvocationError = z.output<typeof InvocationError>

/** One call of a skill. */
export const SkillInvocation = z
  .strictObject({
    id: z.uuid(),
    skillId: z.uuid(),
    skillName: z.string(),
    skillVersion: z.string(),
    protocol: SkillProtocol,
    /** Where it was called; of a run, where its task was. */
    workspaceId: z.uuid().nullable(),
    runId: z.uuid().nullable(),
    /** The action of the run that tells of it. */
    actionId: z.uuid().nullable(),
    /** What lets it write outside: an approval that it used up, or the execution of a task of such a type. */
    basis: z.enum(['approval', 'execution']).nullable(),
    approvalId: z.uuid().nullable(),
    invokedBy: z.uuid(),
    inputs: JsonObject,
    status: InvocationStatus,
    /** The number of the newest attempt, which its executor shows; 0 before the first. */
    fencingToken: z.int(),
    maxAttempts: z.int(),
    /** Of the newest attempt. */
    executorId: z.uuid().nullable(),
    /** While it is being executed; renewed by every heartbeat. */
    leaseExpiresAt: UtcInstant.nullable(),
    /** When it can be claimed, while it is pending. */
    availableAt: UtcInstant.nullable(),
    outputs: JsonObject.nullable(),
    /** What the newest attempt that failed said. */
    error: z.strictObject({ code: z.string(), message: z.string() }).nullable(),
    /** Why it failed or was cancelled: `executor`, `lease_expired`, `run_ended`, `caller_not_active`, `skill_disabled`, or what was said. */
    reason: z.string().nullable(),
    version: z.int(),
    createdAt: UtcInstant,
    finishedAt: UtcInstant.nullable(),
  })
  .meta({ id: 'SkillInvocation' })
export type SkillInvocation = z.infer<typeof SkillInvocation>

const ClaimedInvocation = z
  .strictObject({ ...SkillInvocation.shape, contract: SkillContract })
  .meta({ id: 'ClaimedInvocation' })

const tag = 'Skill invocations'
const byId = z.strictObject({ id: Id })

export const invokeSkill = route({
  method: 'POST',
  path: '/api/v1/skills/{id}:invoke',
  summary: 'Call a skill: the call waits for an executor; for a run, under its live claim',
  tag,
  access: 'skills.invoke',
  statuses: [201],
  errors: [
    ...RUN_REFUSALS,
    'tool_not_found',
    'tool_not_authorized',
    'skill_permission_denied',
    'skill_side_effect_not_authorized',
    'approval_required',
    'delegation_required',
    'idempotency_key_required',
    'invalid_skill_inputs',
    'budget_exceeded',
    'secret_refused',
  ],
  params: byId,
  body: z
    .strictObject({
      inputs: smallJsonObject(MAX_DATA_BYTES).default({}),
      /** The run it is for: it counts as one of its actions. */
      runId: Id.optional(),
      fencingToken: FencingToken.optional(),
      /** Where it is called when it is for no run; outside every workspace when absent. */
      workspaceId: Id.optional(),
      /** Own session whose harness calls, when it is for no run; the newest live one when absent. */
      sessionId: Id.optional(),
      /** Gate of the run's task that was approved and is not used yet, for what writes outside. */
      approvalId: Id.optional(),
    })
    .refine(
      ({ runId, fencingToken }) => (runId === undefined) === (fencingToken === undefined),
      'must have runId and fencingToken together',
    )
    .refine(
      ({ runId, workspaceId, sessionId }) =>
        runId === undefined || (workspaceId === undefined && sessionId === undefined),
      'must not have workspaceId or sessionId with a run, which has its own',
    )
    .refine(
      ({ runId, approvalId }) => runId !== undefined || approvalId === undefined,
      'must have a run with approvalId',
    ),
  reply: SkillInvocation,
})

export const listInvocations = route({
  method: 'GET',
  path: '/api/v1/skill-invocations',
  summary: "Calls of skills, newest first: the caller's own, with skills.execute everybody's",
  tag,
  access: 'authenticated',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  query: z.strictObject({
    ...pageQuery,
    status: InvocationStatus.optional(),
    skillId: Id.optional(),
    runId: Id.optional(),
    protocol: SkillProtocol.optional(),
    /** Only what an executor could claim now, the oldest first; a page may be short. */
    claimable: queryBool.optional(),
  }),
  reply: page(SkillInvocation),
})

export const getInvocation = route({
  method: 'GET',
  path: '/api/v1/skill-invocations/{id}',
  summary: 'One call of a skill, with what came of it',
  tag,
  access: 'authenticated',
  errors: ['not_found'],
  params: byId,
  reply: SkillInvocation,
})

export const claimInvocation = route({
  method: 'POST',
  path: '/api/v1/skill-invocations/{id}:claim',
  summary:
    'Begin the next attempt: a lease of the timeout and 30 seconds, by the clock of the database',
  tag,
  access: 'skills.execute',
  errors: [
    'not_found',
    'invocation_already_claimed',
    'invocation_not_due',
    'invocation_not_active',
  ],
  params: byId,
  reply: ClaimedInvocation,
})

const fenced = { fencingToken: FencingToken }

export const heartbeatInvocation = route({
  method: 'POST',
  path: '/api/v1/skill-invocations/{id}:heartbeat',
  summary: 'Renew the lease of a live attempt; not an event',
  tag,
  access: 'skills.execute',
  errors: ['not_found', 'stale_invocation_lease'],
  params: byId,
  body: z.strictObject(fenced),
  reply: SkillInvocation,
})

export const completeInvocation = route({
  method: 'POST',
  path: '/api/v1/skill-invocations/{id}:complete',
  summary: 'Hand in what came out, which must be what the contract says',
  tag,
  access: 'skills.execute',
  errors: ['not_found', 'stale_invocation_lease', 'invalid_skill_outputs', 'secret_refused'],
  params: byId,
  body: z.strictObject({ ...fenced, outputs: smallJsonObject(MAX_DATA_BYTES).default({}) }),
  reply: SkillInvocation,
})

export const failInvocation = route({
  method: 'POST',
  path: '/api/v1/skill-invocations/{id}:fail',
  summary: 'Say that an attempt failed; with retryable, another may follow as the contract allows',
  tag,
  access: 'skills.execute',
  errors: ['not_found', 'stale_invocation_lease', 'secret_refused'],
  params: byId,
  body: z.strictObject({
    ...fenced,
    error: InvocationError,
    retryable: z.boolean().default(false),
  }),
  reply: SkillInvocation,
})

export const cancelInvocation = route({
  method: 'POST',
  path: '/api/v1/skill-invocations/{id}:cancel',
  summary: 'Call a call off; an executor at work is refused from then on',
  tag,
  access: 'authenticated',
  errors: ['not_found', 'permission_denied', 'invocation_not_active', 'secret_refused'],
  params: byId,
  body: z.strictObject({ reason: text(2000).optional() }),
  reply: SkillInvocation,
})

export const routes = {
  invokeSkill,
  listInvocations,
  getInvocation,
  claimInvocation,
  heartbeatInvocation,
  completeInvocation,
  failInvocation,
  cancelInvocation,
}
