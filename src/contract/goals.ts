import { z } from 'zod'
import { Id, JsonObject, page, pageQuery, queryBool, text, UtcInstant } from './common.ts'
import { route } from './route.ts'

export const GOAL_STATUSES = ['proposed', 'active', 'paused', 'achieved', 'abandoned'] as const
export const GoalStatus = z.enum(GOAL_STATUSES)
export type GoalStatus = z.infer<typeof GoalStatus>

const fields = {
  title: text(500),
  description: z.string().max(65_536),
  status: GoalStatus,
  workspaceId: Id.nullable(),
  ownerId: Id.nullable(),
  parentGoalId: Id.nullable(),
  /** How to tell that the goal is reached, in the order to check. */
  criteria: z.array(z.union([text(2000), JsonObject])).max(100),
}

export const NewGoal = z
  .strictObject({
    ...z.strictObject(fields).partial().shape,
    title: fields.title,
    /** What led to the goal: an id, a link, a name; never changed afterwards. */
    createdFrom: text(500).nullable().optional(),
  })
  .meta({ id: 'NewGoal' })
export type NewGoal = z.output<typeof NewGoal>

export const GoalChanges = z
  .strictObject(fields)
  .partial()
  .refine((body) => Object.keys(body).length > 0, 'must change something')
  .meta({ id: 'GoalChanges' })
export type GoalChanges = z.output<typeof GoalChanges>

export const Goal = z
  .strictObject({
    id: z.uuid(),
    title: z.string(),
    description: z.string(),
    status: GoalStatus,
    workspaceId: z.uuid().nullable(),
    ownerId: z.uuid().nullable(),
    parentGoalId: z.uuid().nullable(),
    criteria: z.array(z.unknown()),
    createdFrom: z.string().nullable(),
    version: z.int(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
    updatedAt: UtcInstant,
  })
  .meta({ id: 'Goal' })
export type Goal = z.infer<typeof Goal>

const tag = 'Goals'
const byId = z.strictObject({ id: Id })

export const createGoal = route({
  method: 'POST',
  path: '/api/v1/goals',
  summary: 'Create a goal; active unless told otherwise',
  tag,
  access: 'goals.write',
  statuses: [201],
  errors: ['not_found', 'workspace_archived'],
  etag: 'goal',
  body: NewGoal,
  reply: Goal,
})

export const listGoals = route({
  method: 'GET',
  path: '/api/v1/goals',
  summary: 'Goals, newest first',
  tag,
  access: 'goals.read',
  errors: ['invalid_limit', 'invalid_cursor', 'not_found'],
  query: z.strictObject({
    ...pageQuery,
    status: GoalStatus.optional(),
    workspaceId: Id.optional(),
    includeDescendants: queryBool.optional(),
    ownerId: Id.optional(),
    parentGoalId: Id.optional(),
  }),
  reply: page(Goal),
})

export const getGoal = route({
  method: 'GET',
  path: '/api/v1/goals/{id}',
  summary: 'One goal',
  tag,
  access: 'goals.read',
  errors: ['not_found'],
  etag: 'goal',
  params: byId,
  reply: Goal,
})

export const updateGoal = route({
  method: 'PATCH',
  path: '/api/v1/goals/{id}',
  summary: 'Change a goal',
  tag,
  access: 'goals.write',
  errors: [
    'not_found',
    'version_conflict',
    'workspace_archived',
    'dependency_cycle',
    'if_match_required',
    'invalid_if_match',
  ],
  etag: 'goal',
  ifMatch: 'goal',
  params: byId,
  body: GoalChanges,
  reply: Goal,
})

export const routes = { createGoal, listGoals, getGoal, updateGoal }
