import { z } from 'zod'
import { Id, page, pageQuery, smallJsonObject, UtcInstant } from './common.ts'
import { Permission } from './permissions.ts'
import { Assignment, Grant, Revoked } from './roles.ts'
import { route } from './route.ts'

/** How whoever executes a skill is spoken to; a harness says which it can with its capabilities. */
export const SKILL_PROTOCOLS = ['mcp', 'http', 'local', 'opencode', 'custom'] as const
export const SkillProtocol = z.enum(SKILL_PROTOCOLS)
export type SkillProtocol = z.infer<typeof SkillProtocol>

/** From the first to the last; there is no way back. */
export const SKILL_STATUSES = ['active', 'deprecated', 'disabled'] as const
export const SkillStatus = z.enum(SKILL_STATUSES)
export type SkillStatus = z.infer<typeof SkillStatus>

export const SIDE_EFFECTS = ['none', 'external_read', 'external_write'] as const
export const SideEffects = z.enum(SIDE_EFFECTS)
export type SideEffects = z.infer<typeof SideEffects>

export const RISK_LEVELS = ['low', 'medium', 'high', 'critical'] as const

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

export const SkillName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,199}$/,
    'must be 1 to 200 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter or a digit',
  )
  .refine((name) => !UUID.test(name), 'must not look like an id')

const VERSION = '[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}'

export const SkillVersion = z
  .string()
  .regex(new RegExp(`^${VERSION}$`), 'must be a version such as 1.0.0')

/** A skill by its id, its name, or its name and version as in `deploy@1.0.0`. */
export const SkillRef = z
  .string()
  .max(265)
  .regex(
    new RegExp(
      `^([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}|[a-z0-9][a-z0-9._-]{0,199}(@${VERSION})?)$`,
    ),
    'must be an id, a name or name@version',
  )

const MAX_SCHEMA_BYTES = 65_536
const MAX_IMPLEMENTATION_BYTES = 16_384

/** What is agreed on between whoever calls a skill and whoever executes it. */
export const SkillContract = z
  .strictObject({
    /** JSON Schema 2020-12 of what goes in, an object. */
    inputs: smallJsonObject(MAX_SCHEMA_BYTES),
    /** JSON Schema 2020-12 of what comes out, an object. */
    outputs: smallJsonObject(MAX_SCHEMA_BYTES),
    /** What the caller must hold besides `skills.invoke`. */
    requiredPermissions: z.array(Permission).max(64).default([]),
    /** How long one attempt may be without a sign of life; its lease is 30 seconds longer. */
    timeoutSeconds: z.int().min(1).max(3600).default(60),
    retryPolicy: z
      .strictObject({
        maxAttempts: z.int().min(1).max(10).default(1),
        backoffSeconds: z.int().min(0).max(3600).default(0),
      })
      .default({ maxAttempts: 1, backoffSeconds: 0 }),
    /**
     * `required`: a call carries an `Idempotency-Key`; `natural`: doing it twice is doing it once; `none`:
     * doing it twice does it twice.
     */
    idempotency: z.enum(['required', 'natural', 'none']).default('none'),
    /** Where and how it is executed: the protocol, and whatever that needs. No credentials. */
    implementation: z
      .looseObject({ protocol: SkillProtocol })
      .refine(
        (value) =>
          new TextEncoder().encode(JSON.stringify(value)).length <= MAX_IMPLEMENTATION_BYTES,
        `must be at most ${MAX_IMPLEMENTATION_BYTES} bytes of JSON`,
      ),
  })
  .meta({ id: 'SkillContract' })
export type SkillContract = z.output<typeof SkillContract>

const Description = z.string().max(2000)

export const NewSkill = z
  .strictObject({
    name: SkillName,
    version: SkillVersion,
    description: Description.default(''),
    /** What a call changes outside the control plane; writing needs an approval or an execution. */
    sideEffects: SideEffects,
    riskLevel: z.enum(RISK_LEVELS),
    contract: SkillContract,
  })
  .meta({ id: 'NewSkill' })
export type NewSkill = z.output<typeof NewSkill>

/** What every view of a skill shows. */
export const skillIdentity = {
  id: z.uuid(),
  name: z.string(),
  /** Of the skill, as it was registered. */
  version: z.string(),
  description: z.string(),
  status: SkillStatus,
  protocol: SkillProtocol,
  sideEffects: SideEffects,
  riskLevel: z.enum(RISK_LEVELS),
}

export const SkillSummary = z
  .strictObject({
    ...skillIdentity,
    /** Of what may change: the description and the status. */
    rowVersion: z.int().positive(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'SkillSummary' })
export type SkillSummary = z.infer<typeof SkillSummary>

export const Skill = z
  .strictObject({ ...SkillSummary.shape, contract: SkillContract })
  .meta({ id: 'Skill' })
export type Skill = z.output<typeof Skill>

const tag = 'Skills'
const byId = z.strictObject({ id: Id })
const pageErrors = ['invalid_limit', 'invalid_cursor'] as const

export const registerSkill = route({
  method: 'POST',
  path: '/api/v1/skills',
  summary: 'Register a version of a skill; what it is never changes',
  tag,
  access: 'org.manage',
  statuses: [201],
  errors: ['skill_exists', 'invalid_skill', 'secret_refused'],
  etag: 'skill',
  body: NewSkill,
  reply: Skill,
})

export const listSkills = route({
  method: 'GET',
  path: '/api/v1/skills',
  summary: 'List versions of skills, newest first, without their contracts',
  tag,
  access: 'org.read',
  errors: [...pageErrors],
  query: z.strictObject({
    ...pageQuery,
    name: SkillName.optional(),
    status: SkillStatus.optional(),
    protocol: SkillProtocol.optional(),
  }),
  reply: page(SkillSummary),
})

export const getSkill = route({
  method: 'GET',
  path: '/api/v1/skills/{id}',
  summary: 'Show a skill with its contract',
  tag,
  access: 'org.read',
  errors: ['not_found'],
  etag: 'skill',
  params: byId,
  reply: Skill,
})

export const updateSkill = route({
  method: 'PATCH',
  path: '/api/v1/skills/{id}',
  summary: 'Describe a skill, or move it towards its end: deprecated, then disabled',
  tag,
  access: 'org.manage',
  errors: [
    'not_found',
    'version_conflict',
    'if_match_required',
    'invalid_if_match',
    'invalid_transition',
  ],
  etag: 'skill',
  ifMatch: 'skill',
  params: byId,
  body: z
    .strictObject({ description: Description.optional(), status: SkillStatus.optional() })
    .refine((body) => Object.keys(body).length > 0, 'must change something'),
  reply: Skill,
})

export const assignSkill = route({
  method: 'POST',
  path: '/api/v1/skills/{id}:assign',
  summary: 'Give a skill to a principal; giving it again changes nothing',
  tag,
  access: 'org.manage',
  statuses: [201, 200],
  errors: ['not_found'],
  params: byId,
  body: Grant,
  reply: Assignment,
})

export const revokeSkill = route({
  method: 'POST',
  path: '/api/v1/skills/{id}:revoke',
  summary: 'Take a skill from a principal where it was given; taking it again changes nothing',
  tag,
  access: 'org.manage',
  errors: ['not_found'],
  params: byId,
  body: Grant,
  reply: Revoked,
})

export const listSkillAssignments = route({
  method: 'GET',
  path: '/api/v1/skills/{id}/assignments',
  summary: 'List who has a skill, newest first',
  tag,
  access: 'org.read',
  errors: ['not_found', ...pageErrors],
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(Assignment),
})

export const routes = {
  registerSkill,
  listSkills,
  getSkill,
  updateSkill,
  assignSkill,
  revokeSkill,
  listSkillAssignments,
}
