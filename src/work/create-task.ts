import type { NewTask } from '#contract/tasks.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { taskEntity } from './lock-task.ts'
import { newTaskFields, resolveReferences } from './task-fields.ts'
import { categoryOf, DEFAULT_LIFECYCLE, publicIdOf } from './task.ts'
import { insertTask, selectTask } from './task.sql.ts'
import type { TaskRow } from './task.sql.ts'

/**
 * Creates a task with the tenant's next public id. The journal gets neither custom fields nor the
 * evidence of the origin. Throws `not_found`, `workspace_archived`.
 */
export async function createTask(sql: Sql, ctx: Ctx, input: NewTask): Promise<TaskRow> {
  const { origin = null } = input
  const id = newId()
  await lockEntities(sql, ctx, [taskEntity(id)])
  const fields = await resolveReferences(sql, ctx, newTaskFields(input))
  const { typeKey, typeVersion, initialStatus: status } = DEFAULT_LIFECYCLE
  const statusCategory = categoryOf(DEFAULT_LIFECYCLE, status)
  await insertTask(sql, ctx, {
    id,
    ...fields,
    typeKey,
    typeVersion,
    status,
    statusCategory,
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
