import { z } from 'zod'
import { RunCost, RunTokens } from './budgets.ts'
import { FencingToken, Id, JsonObject, Limit, text, UtcInstant } from './common.ts'
import { HUMAN_ONLY, Permission } from './permissions.ts'
import { route } from './route.ts'
import { RUN_REFUSALS } from './runs.ts'
import { Priority } from './tasks.ts'

export const CHILD_STATUSES = [
  'pending',
  'claimed',
  'running',
  'suspended',
  'succeeded',
  'failed',
  'cancelled',
  'revoked',
  'expired',
] as const
export const CANCELLATION_POLICIES = ['cascade_cooperative', 'detach'] as const

const Grant = z.strictObject({
  permissions: z
    .array(Permission)
    .min(1)
    .max(64)
    .refine((list) => list.includes('tasks.claim'), 'must contain tasks.claim')
    .refine((list) => !list.some((one) => HUMAN_ONLY.has(one)), 'must not hold what is for people'),
  /** Names of the skills that the child may execute; all that the parent may, when absent. */
  skills: z.array(text(200)).max(200).optional(),
  /** Budgets of each run of the child; what is left to the parent, when absent. */
  maxDurationSeconds: z.int().min(1).max(2_592_000).optional(),
  maxActions: z.int().min(1).max(1_000_000).optional(),
  maxTokens: RunTokens.optional(),
  maxCost: RunCost.optional(),
  /** How long the handle can be used; a day when absent. */
  ttlSeconds: z.int().min(10).max(2_592_000).optional(),
})
export type Grant = z.output<typeof Grant>

export const ChildHandle = z
  .strictObject({
    id: z.uuid(),
    /** The run that made the child. */
    runId: z.uuid(),
    sequence: z.int(),
    correlationId: z.string(),
    title: z.string(),
    /** The task of the child; only a request that shows the handle can claim it. */
    taskId: z.uuid(),
    taskPublicId: z.string(),
    grant: z.strictObject({
      permissions: z.array(z.string()),
      skills: z.array(z.string()).nullable(),
      maxDurationSeconds: z.int().nullable(),
      maxActions: z.int().nullable(),
      maxTokens: z.int().nullable(),
      maxCost: z.string().nullable(),
    }),
    cancellationPolicy: z.enum(CANCELLATION_POLICIES),
    /** What the task, its claim and its newest run amount to now. */
    status: z.enum(CHILD_STATUSES),
    /** The newest run of the child. */
    childRunId: z.uuid().nullable(),
    /** The output of the first run of the child that succeeded; never changes. */
    result: z
      .strictObject({ runId: z.uuid(), output: JsonObject.nullable(), finishedAt: UtcInstant })
      .nullable(),
    expiresAt: UtcInstant,
    revokedAt: UtcInstant.nullable(),
    revokeReason: z.string().nullable(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
    /** Reading on from here misses no later handle. */
    cursor: z.string(),
  })
  .meta({ id: 'ChildHandle' })
export type ChildHandle = z.infer<typeof ChildHandle>

const byId = z.strictObject({ id: Id })

export const createChildHandle = route({
  method: 'POST',
  path: '/api/v1/runs/{id}/child-handles',
  summary: 'Give a part of the work to a child run, under no more than the rights of this one',
  tag: 'Run control',
  access: 'tasks.write',
  statuses: [201, 200],
  errors: [
    ...RUN_REFUSALS,
    'budget_exceeded',
    'child_grant_exceeds_parent',
    'idempotency_key_required',
    'secret_refused',
    'workspace_archived',
  ],
  idempotencyKey: 'required',
  secretFields: ['handleToken'],
  params: byId,
  body: z.strictObject({
    fencingToken: FencingToken,
    /** The parent's own name for this child; the same again answers 200 with the same child. */
    correlationId: text(200),
    title: text(500),
    description: z.string().max(65_536).default(''),
    priority: Priority.optional(),
    grant: Grant,
    cancellationPolicy: z.enum(CANCELLATION_POLICIES).default('cascade_cooperative'),
  }),
  reply: z.strictObject({
    ...ChildHandle.shape,
    /** Shown this once: null when the child was there before. */
    handleToken: z.string().nullable(),
  }),
})

export const listChildHandles = route({
  method: 'GET',
  path: '/api/v1/runs/{id}/child-handles',
  summary: 'Children of a run, oldest first',
  tag: 'Run control',
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor', 'unsupported_cursor_version'],
  params: byId,
  query: z.strictObject({ limit: Limit, cursor: z.string().max(512).optional() }),
  reply: z.strictObject({ items: z.array(ChildHandle), nextCursor: z.string().nullable() }),
})

export const getChildHandle = route({
  method: 'GET',
  path: '/api/v1/child-handles/{id}',
  summary: 'One child of a run, with its result',
  tag: 'Run control',
  access: 'tasks.read',
  errors: ['not_found'],
  params: byId,
  reply: ChildHandle,
})

export const revokeChildHandle = route({
  method: 'POST',
  path: '/api/v1/child-handles/{id}:revoke',
  summary:
    'End a handle: nothing can be done with it any more, and a running child is asked to stop',
  tag: 'Run control',
  access: 'authenticated',
  errors: ['not_found', 'permission_denied', 'run_holder_mismatch'],
  params: byId,
  body: z.strictObject({ reason: text(2000).optional() }),
  reply: ChildHandle,
})

export const routes = { createChildHandle, listChildHandles, getChildHandle, revokeChildHandle }
