import { z } from 'zod'

const id = z.uuid()
const nullableId = id.nullable()

/** Events of skills and of calls of them; see `EVENTS`. What goes in and comes out is never among them. */
export const SKILL_EVENTS = {
  'skill.registered': z.strictObject({
    name: z.string(),
    version: z.string(),
    protocol: z.string(),
  }),
  'skill.updated': z.strictObject({ changedFields: z.array(z.string()), rowVersion: z.int() }),
  'skill.assigned': z.strictObject({ skillId: id, principalId: id, workspaceId: nullableId }),
  'skill.revoked': z.strictObject({ skillId: id, principalId: id, workspaceId: nullableId }),
  'skill_invocation.requested': z.strictObject({
    skillId: id,
    runId: nullableId,
    basis: z.string().nullable(),
    approvalId: nullableId,
  }),
  'skill_invocation.claimed': z.strictObject({
    skillId: id,
    executorId: id,
    fencingToken: z.int(),
  }),
  /** `reason` is `executor`, who said that it may be tried again, or `lease_expired`. */
  'skill_invocation.retry_scheduled': z.strictObject({
    skillId: id,
    fencingToken: z.int(),
    reason: z.string(),
  }),
  'skill_invocation.succeeded': z.strictObject({ skillId: id, fencingToken: z.int() }),
  'skill_invocation.failed': z.strictObject({
    skillId: id,
    fencingToken: z.int(),
    reason: z.string(),
  }),
  /** `reason` is `caller`, `run_ended`, `caller_not_active` or `skill_disabled`. */
  'skill_invocation.cancelled': z.strictObject({ skillId: id, reason: z.string() }),
} as const satisfies Record<string, z.ZodType>
