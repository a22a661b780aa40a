import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { lockTask } from '#work/lock-task.ts'
import { selectTaskId, touchTask } from '#work/task.sql.ts'
import { deleteRelation, selectRelation } from './relation.sql.ts'
import type { RelationRow } from './relation.sql.ts'

/** Removes a relation of a task, named from either end. Throws `not_found`. */
export async function removeRelation(
  sql: Sql,
  ctx: Ctx,
  input: { ref: string; id: string },
): Promise<RelationRow> {
  const { ref, id } = input
  const taskId = found(await selectTaskId(sql, ctx, ref), 'task', ref)
  const relation = await selectRelation(sql, ctx, id)
  const isOfTask = relation?.fromTaskId === taskId || relation?.toTaskId === taskId
  const { fromTaskId, toTaskId, type } = found(isOfTask ? relation : undefined, 'relation', id)
  const from = await lockTask(sql, ctx, fromTaskId)
  found((await deleteRelation(sql, ctx, id)) ? relation : undefined, 'relation', id)
  await appendEvent(sql, ctx, {
    type: 'task.relation_removed',
    entityType: 'task',
    entityId: fromTaskId,
    entityVersion: await touchTask(sql, ctx, fromTaskId),
    workspaceId: from.workspaceId,
    payload: { relationId: id, fromTaskId, toTaskId, type },
  })
  return found(relation, 'relation', id)
}
