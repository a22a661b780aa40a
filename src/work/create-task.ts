import type { NewTask } from '#contract/tasks.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { compileSchema } from '#lib/json-schema.ts'
import type { CompileSchema } from '#lib/json-schema.ts'
import { requireCustomFields } from '#task-types/custom-fields.ts'
import { categoryOf } from '#task-types/lifecycle.ts'
import { selectTaskType } from '#task-types/task-type.sql.ts'
import { taskEntity } from './lock-task.ts'
import { requireAllowedPriority } from './project-rules.ts'
import { newTaskFields, resolveReferences } from './task-fields.ts'
import { publicIdOf } from './task.ts'
import { insertTask, selectTask } from './task.sql.ts'
import type { TaskRow } from './task.sql.ts'

/**
 * Creates a task with the tenant's next public id, of the newest version of its type unless another is
 * named. The journal gets neither custom fields nor the evidence of the origin.
 *
 * Throws `not_found`, `workspace_archived`, `invalid_custom_fields`, `invalid_request` for a priority that
 * the project does not allow.
 */
export async function createTask(
  sql: Sql,
  ctx: Ctx,
  input: NewTask,
  compile: CompileSchema = compileSchema,
): Promise<TaskRow> {
  const { origin = null, typeKey: key = 'default', typeVersion: version } = input
  const id = newId()
  await lockEntities(sql, ctx, [taskEntity(id)])
  const fields = await resolveReferences(sql, ctx, newTaskFields(input))
  await requireAllowedPriority(sql, ctx, fields)
  const type = found(await selectTaskType(sql, ctx, { key, version }), 'task type', key)
  requireCustomFields(type, fields.customFields, compile)
  const status = type.lifecycle.initialStatus
  await insertTask(sql, ctx, {
    id,
    ...fields,
    typeKey: type.key,
    typeVersion: type.version,
    status,
    statusCategory: categoryOf(type.lifecycle, status),
    origin,
  })
  const task = found(await selectTask(sql, ctx, id), 'task', id)
  await appendEvent(sql, ctx, {
    type: 'task.created',
    entityType: 'task',
    entityId: id,
    entityVersion: task.version,
    workspaceId: task.workspaceId,
    payload: {
      publicId: publicIdOf(task.number),
      title: task.title,
      status,
      priority: task.priority,
      workspaceId: task.workspaceId,
      goalId: task.goalId,
      origin: origin && { kind: origin.kind, ref: origin.ref, ruleId: origin.ruleId },
    },
  })
  return task
}
