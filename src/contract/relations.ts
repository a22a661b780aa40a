import { z } from 'zod'
import { Id, page, pageQuery, TaskRef, UtcInstant } from './common.ts'
import { route } from './route.ts'

/**
 * Read as a sentence: the task `<type>` the other. `parent`: is a part of it; `depends_on`: cannot begin
 * before it is completed; `spawned_by`: came out of work on it; `relates_to`: the same both ways.
 */
export const RELATION_TYPES = ['parent', 'depends_on', 'spawned_by', 'relates_to'] as const
export const RelationType = z.enum(RELATION_TYPES)
export type RelationType = z.infer<typeof RelationType>

export const Relation = z
  .strictObject({
    id: z.uuid(),
    type: RelationType,
    fromTaskId: z.uuid(),
    fromTaskPublicId: z.string(),
    toTaskId: z.uuid(),
    toTaskPublicId: z.string(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Relation' })
export type Relation = z.infer<typeof Relation>

const tag = 'Relations'

export const addRelation = route({
  method: 'POST',
  path: '/api/v1/tasks/{ref}/relations',
  summary: 'Relate a task to another; a task has one parent, and nothing goes in a circle',
  tag,
  access: 'tasks.write',
  statuses: [201],
  errors: ['not_found', 'relation_exists', 'dependency_cycle'],
  params: z.strictObject({ ref: TaskRef }),
  body: z.strictObject({ type: RelationType, toTask: TaskRef }),
  reply: Relation,
})

export const listRelations = route({
  method: 'GET',
  path: '/api/v1/tasks/{ref}/relations',
  summary: 'Relations of a task in both directions, newest first',
  tag,
  access: 'tasks.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  params: z.strictObject({ ref: TaskRef }),
  query: z.strictObject({
    ...pageQuery,
    type: RelationType.optional(),
    /** `out` are those of the task to others, `in` those of others to it. */
    direction: z.enum(['out', 'in', 'both']).default('both'),
  }),
  reply: page(Relation),
})

export const removeRelation = route({
  method: 'DELETE',
  path: '/api/v1/tasks/{ref}/relations/{id}',
  summary: 'Remove a relation, from either of its tasks; answers what it was',
  tag,
  access: 'tasks.write',
  errors: ['not_found'],
  params: z.strictObject({ ref: TaskRef, id: Id }),
  reply: Relation,
})

export const routes = { addRelation, listRelations, removeRelation }
