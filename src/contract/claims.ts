import { z } from 'zod'
import { FencingToken, Id, TaskRef, text, TtlSeconds, UtcInstant } from './common.ts'
import { route } from './route.ts'

export const Claim = z
  .strictObject({
    id: z.uuid(),
    taskId: z.uuid(),
    taskPublicId: z.string(),
    sessionId: z.uuid(),
    /** The principal that holds the claim. */
    holderId: z.uuid(),
    /** Goes with every write made under the claim; every new claim of the task gets a larger one. */
    fencingToken: z.int(),
    /** `expired` from the moment the lease, or that of the session, ends. */
    status: z.enum(['active', 'released', 'expired']),
    intent: z.string().nullable(),
    ttlSeconds: z.int(),
    expiresAt: UtcInstant,
    createdAt: UtcInstant,
    endedAt: UtcInstant.nullable(),
    endReason: z.string().nullable(),
  })
  .meta({ id: 'Claim' })
export type Claim = z.infer<typeof Claim>

const byId = z.strictObject({ id: Id })
const refusals = [
  'not_found',
  'permission_denied',
  'claim_holder_mismatch',
  'stale_claim',
  'claim_expired',
  'claim_not_active',
] as const

export const claimTask = route({
  method: 'POST',
  path: '/api/v1/tasks/{ref}:claim',
  summary: 'Take the only right to work on a task, for a while',
  tag: 'Claims',
  access: 'tasks.claim',
  statuses: [201],
  errors: [
    'not_found',
    'session_owner_mismatch',
    'session_expired',
    'session_not_active',
    'delegation_required',
    'task_already_claimed',
    'task_not_claimable',
    'child_grant_exceeded',
    'task_not_ready',
    'not_eligible',
  ],
  params: z.strictObject({ ref: TaskRef }),
  body: z.strictObject({
    sessionId: Id,
    ttlSeconds: TtlSeconds,
    /** What the holder is about to do; shown to others and kept in the journal. */
    intent: text(2000).optional(),
  }),
  reply: Claim,
})

export const getClaim = route({
  method: 'GET',
  path: '/api/v1/claims/{id}',
  summary: 'One claim',
  tag: 'Claims',
  access: 'tasks.read',
  errors: ['not_found'],
  params: byId,
  reply: Claim,
})

export const heartbeatClaim = route({
  method: 'POST',
  path: '/api/v1/claims/{id}:heartbeat',
  summary: 'Renew the lease of a live claim; one that ended is never revived',
  tag: 'Claims',
  access: 'authenticated',
  errors: refusals,
  params: byId,
  body: z.strictObject({ fencingToken: FencingToken, ttlSeconds: TtlSeconds }),
  reply: Claim,
})

export const releaseClaim = route({
  method: 'POST',
  path: '/api/v1/claims/{id}:release',
  summary: 'Give a claimed task back',
  tag: 'Claims',
  access: 'authenticated',
  errors: [...refusals, 'run_in_progress'],
  params: byId,
  body: z.strictObject({ fencingToken: FencingToken, reason: text(500).optional() }),
  reply: Claim,
})

export const reclaimClaim = route({
  method: 'POST',
  path: '/api/v1/claims/{id}:reclaim',
  summary: 'Take an expired claim away, so that its task is open again',
  tag: 'Claims',
  access: 'tasks.claim',
  errors: ['not_found', 'claim_not_expired', 'claim_not_active'],
  params: byId,
  reply: Claim,
})

export const routes = { claimTask, getClaim, heartbeatClaim, releaseClaim, reclaimClaim }
