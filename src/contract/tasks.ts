import { z } from 'zod'
import {
  Day,
  FencingToken,
  Id,
  JsonObject,
  page,
  pageQuery,
  queryBool,
  TaskRef,
  text,
  UtcInstant,
} from './common.ts'
import { CHILD_RUN_ORIGIN } from './child-run.ts'
import { route } from './route.ts'
import { StatusCategory, StatusKey, TypeKey, TypeVersion } from './task-types.ts'

export const PRIORITIES = ['critical', 'high', 'medium', 'low'] as const
export const Priority = z.enum(PRIORITIES)
export type Priority = z.infer<typeof Priority>

/** Where a task came from; never changed afterwards. */
export const Origin = z.strictObject({
  kind: text(100),
  ref: text(500).nullable().default(null),
  ruleId: text(200).nullable().default(null),
  evidence: z.array(JsonObject).max(50).default([]),
})
export type Origin = z.output<typeof Origin>

const Names = z.array(text(200)).max(50).default([])

/** What whoever claims the task must have, by id, or by slug or name; all of it. */
export const Requirements = z
  .strictObject({ roles: Names, capabilities: Names, skills: Names })
  .meta({ id: 'Requirements' })
export type Requirements = z.output<typeof Requirements>

const fields = {
  title: text(500),
  description: z.string().max(65_536),
  priority: Priority,
  ownerId: Id.nullable(),
  assigneeId: Id.nullable(),
  workspaceId: Id.nullable(),
  goalId: Id.nullable(),
  customFields: JsonObject,
  startDate: Day.nullable(),
  dueDate: Day.nullable(),
  /** What has to hold before the task counts as done, in the order to check. */
  acceptance: z.array(z.union([text(2000), JsonObject])).max(100),
  /** What supports the task or its result: links, ids, excerpts. */
  evidence: z.array(z.union([text(2000), JsonObject])).max(100),
  requirements: Requirements,
}

export const NewTask = z
  .strictObject({
    ...z.strictObject(fields).partial().shape,
    title: fields.title,
    /** `default` unless given, and of it the newest version. */
    typeKey: TypeKey.optional(),
    typeVersion: TypeVersion.optional(),
    origin: Origin.refine(
      ({ kind }) => kind !== CHILD_RUN_ORIGIN,
      'must not be of this kind',
    ).optional(),
  })
  .meta({ id: 'NewTask' })
export type NewTask = z.output<typeof NewTask>

/** The claim under which a write is made. */
const fence = { claimId: Id.optional(), fencingToken: FencingToken.optional() }

export const TaskChanges = z
  .strictObject({
    ...z.strictObject(fields).partial().shape,
    status: StatusKey.optional(),
    ...fence,
  })
  .refine((body) => Object.keys(body).some((key) => !(key in fence)), 'must change something')
  .refine(bothOrNone, 'must have both claimId and fencingToken, or neither')
  .meta({ id: 'TaskChanges' })
export type TaskChanges = z.output<typeof TaskChanges>

function bothOrNone(body: { claimId?: unknown; fencingToken?: unknown }): boolean {
  return (body.claimId === undefined) === (body.fencingToken === undefined)
}

export const Task = z
  .strictObject({
    id: z.uuid(),
    publicId: z.string(),
    title: z.string(),
    description: z.string(),
    status: z.string(),
    systemStatusCategory: StatusCategory,
    priority: Priority,
    ownerId: z.uuid().nullable(),
    assigneeId: z.uuid().nullable(),
    workspaceId: z.uuid().nullable(),
    goalId: z.uuid().nullable(),
    /** The live claim; null when nobody holds the task. */
    activeClaimId: z.uuid().nullable(),
    typeKey: z.string(),
    typeVersion: z.int(),
    customFields: JsonObject,
    startDate: z.string().nullable(),
    dueDate: z.string().nullable(),
    origin: Origin.nullable(),
    acceptance: z.array(z.unknown()),
    evidence: z.array(z.unknown()),
    requirements: Requirements,
    /** Counts the changes of what the task asks for; an approval is of one revision. */
    revision: z.int(),
    version: z.int(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
    updatedAt: UtcInstant,
    completedAt: UtcInstant.nullable(),
  })
  .meta({ id: 'Task' })
export type Task = z.infer<typeof Task>

/** Where tasks belong; a project is its workspace and the plain ones below it. */
export const place = {
  workspaceId: Id.optional(),
  includeDescendants: queryBool.optional(),
  /** Only the workspaces of a project; needs projects.read. */
  projectId: Id.optional(),
  /** With `projectId`: also those of the projects nested in it. */
  includeSubprojects: queryBool.optional(),
}

const taskRef = z.strictObject({ ref: TaskRef })

export const createTask = route({
  method: 'POST',
  path: '/api/v1/tasks',
  summary: 'Create a task',
  tag: 'Tasks',
  access: 'tasks.write',
  statuses: [201],
  errors: ['not_found', 'workspace_archived', 'invalid_custom_fields'],
  etag: 'task',
  body: NewTask,
  reply: Task,
})

export const listTasks = route({
  method: 'GET',
  path: '/api/v1/tasks',
  summary: 'Tasks, newest first',
  tag: 'Tasks',
  access: 'tasks.read',
  errors: ['invalid_limit', 'invalid_cursor', 'not_found'],
  query: z.strictObject({
    ...pageQuery,
    status: StatusKey.optional(),
    ...place,
    assigneeId: Id.optional(),
    goalId: Id.optional(),
  }),
  reply: page(Task),
})

export const getTask = route({
  method: 'GET',
  path: '/api/v1/tasks/{ref}',
  summary: 'One task, by id or public id',
  tag: 'Tasks',
  access: 'tasks.read',
  errors: ['not_found'],
  etag: 'task',
  params: taskRef,
  reply: Task,
})

export const updateTask = route({
  method: 'PATCH',
  path: '/api/v1/tasks/{ref}',
  summary: 'Change a task; while it is claimed, its status only under the claim',
  tag: 'Tasks',
  access: 'tasks.write',
  errors: [
    'not_found',
    'version_conflict',
    'stale_claim',
    'claim_holder_mismatch',
    'task_claimed',
    'run_in_progress',
    'invalid_transition',
    'invalid_custom_fields',
    'workspace_archived',
    'if_match_required',
    'invalid_if_match',
  ],
  etag: 'task',
  ifMatch: 'task',
  params: taskRef,
  body: TaskChanges,
  reply: Task,
})

export const completeTask = route({
  method: 'POST',
  path: '/api/v1/tasks/{ref}:complete',
  summary: 'Complete a task and release its claim',
  tag: 'Tasks',
  access: 'tasks.write',
  errors: [
    'not_found',
    'version_conflict',
    'stale_claim',
    'claim_holder_mismatch',
    'task_claimed',
    'task_already_completed',
    'run_in_progress',
    'invalid_transition',
    'approval_required',
    'if_match_required',
    'invalid_if_match',
  ],
  etag: 'task',
  ifMatch: 'task',
  params: taskRef,
  body: z
    .strictObject({ ...fence, evidence: fields.evidence.optional() })
    .refine(bothOrNone, 'must have both claimId and fencingToken, or neither'),
  reply: Task,
})

/** Why a task cannot be claimed now; the same words as the refusals of a claim. */
export const CLAIM_OBSTACLES = [
  'task_already_claimed',
  'task_not_ready',
  'approval_required',
  'not_eligible',
  'task_not_claimable',
] as const
export type ClaimObstacle = (typeof CLAIM_OBSTACLES)[number]

export const Claimability = z
  .strictObject({
    taskId: z.uuid(),
    claimable: z.boolean(),
    /** All of them; `permission_denied` when the caller may not claim at all. */
    reasons: z.array(z.enum([...CLAIM_OBSTACLES, 'permission_denied'])),
  })
  .meta({ id: 'Claimability' })
export type Claimability = z.infer<typeof Claimability>

export const getClaimability = route({
  method: 'GET',
  path: '/api/v1/tasks/{ref}/claimability',
  summary: 'Whether the caller could claim a task now, and if not, why',
  tag: 'Tasks',
  access: 'tasks.read',
  errors: ['not_found'],
  params: taskRef,
  reply: Claimability,
})

export const listAvailableWork = route({
  method: 'GET',
  path: '/api/v1/work/available',
  summary: 'Tasks that could be claimed now: by priority, then oldest first. Advice, not a promise',
  tag: 'Tasks',
  access: 'tasks.read',
  errors: ['invalid_limit', 'invalid_cursor', 'not_found', 'permission_denied'],
  query: z.strictObject({
    ...pageQuery,
    ...place,
    assigneeId: Id.optional(),
    assignedToMe: queryBool.optional(),
  }),
  reply: page(Task),
})

export const routes = {
  createTask,
  listTasks,
  getTask,
  updateTask,
  completeTask,
  getClaimability,
  listAvailableWork,
}
