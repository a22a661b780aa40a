import type { NewTaskType } from '#contract/task-types.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { compileSchema } from '#lib/json-schema.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { errorAt, unusableSchema } from '#lib/schema-errors.ts'
import { requirePlace } from '#org/permission.ts'
import { lifecycleProblems } from './lifecycle.ts'
import { insertTaskType } from './task-type.sql.ts'
import type { TaskTypeRow } from './task-type.sql.ts'

/**
 * Adds the next version of a type; a new key begins with 1. Tasks keep the version they were made with.
 * Throws `permission_denied` to who reaches only some workspaces, `invalid_task_type` for a lifecycle that cannot work and for what is no JSON Schema.
 */
export async function createTaskType(
  sql: Sql,
  ctx: Ctx,
  input: NewTaskType,
  compile: CompileSchema = compileSchema,
): Promise<TaskTypeRow> {
  requirePlace(ctx, null)
  refuseProblems(input, compile)
  await lockEntities(sql, ctx, [{ type: 'task_type', id: input.key }])
  const row = await insertTaskType(sql, ctx, { ...input, id: newId() })
  const { key, version, displayName } = row
  await appendEvent(sql, ctx, {
    type: 'task_type.created',
    entityType: 'task_type',
    entityId: key,
    entityVersion: version,
    workspaceId: null,
    payload: { key, version, displayName },
  })
  return row
}

const MAX_PROBLEMS = 50

function refuseProblems(type: NewTaskType, compile: CompileSchema): void {
  const ofSchema = (field: 'customFieldsSchema' | 'artifactSchema') => {
    const schema = type[field]
    return schema ? unusableSchema(schema, ['body', field], compile) : []
  }
  const errors = [
    ...lifecycleProblems(type.lifecycleSchema).map(errorAt(['body', 'lifecycleSchema'])),
    ...ofSchema('customFieldsSchema'),
    ...ofSchema('artifactSchema'),
  ]
  const [first] = errors
  if (!first) return
  throw new AppError(
    'invalid_task_type',
    `Cannot create task type "${type.key}": ${first.loc} ${first.message}`,
    { details: { errors: errors.slice(0, MAX_PROBLEMS) } },
  )
}
