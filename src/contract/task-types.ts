import { z } from 'zod'
import { coded, JsonObject, page, pageQuery, text, UtcInstant } from './common.ts'
import { route } from './route.ts'
import { SkillName } from './skills.ts'

/** What a status means to the system, whatever a task type calls it. */
export const STATUS_CATEGORIES = [
  'open',
  'active',
  'blocked',
  'terminal_success',
  'terminal_failure',
  'terminal_cancelled',
] as const
export const StatusCategory = z.enum(STATUS_CATEGORIES)
export type StatusCategory = z.infer<typeof StatusCategory>

export const StatusKey = z.string().regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be a status key')

export const TypeKey = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,63}$/, 'must be 1 to 64 of a-z, 0-9, _ and -, beginning with a letter')

export const TypeVersion = z.int().min(1).max(2_147_483_647)

/** How the tasks of a type move. */
export const Lifecycle = z
  .strictObject({
    statuses: z
      .array(
        z.strictObject({
          key: StatusKey,
          category: StatusCategory,
          displayName: text(200).optional(),
        }),
      )
      .min(1)
      .max(100),
    /** Every move that a caller may make; into success it is made by completing. */
    transitions: z.array(z.strictObject({ from: StatusKey, to: StatusKey })).max(1000),
    initialStatus: StatusKey,
    /** Where a claim brings the task; null leaves it where it is. */
    claimStatus: StatusKey.nullable().default(null),
    /** Where the end of a claim brings a task that is being worked on. */
    releaseStatus: StatusKey,
    completionStatus: StatusKey,
  })
  .meta({ id: 'Lifecycle' })
export type Lifecycle = z.output<typeof Lifecycle>

const MAX_INSTRUCTIONS_BYTES = 16_384
const MAX_SCHEMA_BYTES = 65_536

const Schema = JsonObject.refine(
  (schema) => Buffer.byteLength(JSON.stringify(schema)) <= MAX_SCHEMA_BYTES,
  coded('invalid_task_type', `must not exceed ${MAX_SCHEMA_BYTES} bytes`),
)

const parts = {
  displayName: text(200),
  description: z.string().max(10_000).default(''),
  lifecycleSchema: Lifecycle,
  /** JSON Schema 2020-12 of `customFields`; null leaves them free. */
  customFieldsSchema: Schema.nullable().default(null),
  /** What whoever works on such a task is told. */
  instructions: text(MAX_INSTRUCTIONS_BYTES)
    .refine(
      (value) => Buffer.byteLength(value) <= MAX_INSTRUCTIONS_BYTES,
      coded('invalid_task_type', `must not exceed ${MAX_INSTRUCTIONS_BYTES} bytes`),
    )
    .nullable()
    .default(null),
  /** Name of the skill that carries such tasks out: runs of them may call it although it writes outside. */
  executionSkill: SkillName.nullable().default(null),
  contextSchema: Schema.nullable().default(null),
  approvalSchema: Schema.nullable().default(null),
  /** JSON Schema 2020-12 of `type`, `name`, `uri`, `mediaType`, `sizeBytes` and `metadata` of artifacts. */
  artifactSchema: Schema.nullable().default(null),
}

export const NewTaskType = z.strictObject({ key: TypeKey, ...parts }).meta({ id: 'NewTaskType' })
export type NewTaskType = z.output<typeof NewTaskType>

export const TaskType = z
  .strictObject({
    id: z.uuid(),
    key: z.string(),
    version: z.int(),
    displayName: z.string(),
    description: z.string(),
    lifecycleSchema: Lifecycle,
    customFieldsSchema: JsonObject.nullable(),
    instructions: z.string().nullable(),
    executionSkill: z.string().nullable(),
    contextSchema: JsonObject.nullable(),
    approvalSchema: JsonObject.nullable(),
    artifactSchema: JsonObject.nullable(),
    /** Null for the type that comes with the product. */
    createdBy: z.uuid().nullable(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'TaskType' })
export type TaskType = z.infer<typeof TaskType>

const tag = 'Task types'

export const createTaskType = route({
  method: 'POST',
  path: '/api/v1/task-types',
  summary: 'Add the next version of a task type; a version never changes',
  tag,
  access: 'task_types.manage',
  statuses: [201],
  errors: ['invalid_task_type'],
  body: NewTaskType,
  reply: TaskType,
})

export const listTaskTypes = route({
  method: 'GET',
  path: '/api/v1/task-types',
  summary: 'Versions of task types, newest first',
  tag,
  access: 'task_types.read',
  errors: ['invalid_limit', 'invalid_cursor'],
  query: z.strictObject({
    ...pageQuery,
    key: TypeKey.optional(),
    /** `newest` leaves out every version that has a later one. */
    versions: z.enum(['all', 'newest']).default('all'),
  }),
  reply: page(TaskType),
})

export const getTaskType = route({
  method: 'GET',
  path: '/api/v1/task-types/{key}',
  summary: 'The newest version of a task type',
  tag,
  access: 'task_types.read',
  errors: ['not_found'],
  params: z.strictObject({ key: TypeKey }),
  reply: TaskType,
})

export const getTaskTypeVersion = route({
  method: 'GET',
  path: '/api/v1/task-types/{key}/versions/{version}',
  summary: 'One version of a task type',
  tag,
  access: 'task_types.read',
  errors: ['not_found'],
  params: z.strictObject({
    key: TypeKey,
    version: z
      .string()
      .regex(/^[1-9]\d{0,8}$/, 'must be a version number')
      .transform(Number),
  }),
  reply: TaskType,
})

export const routes = { createTaskType, listTaskTypes, getTaskType, getTaskTypeVersion }
