import type { RelationType } from '#contract/relations.ts'
import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { lockTask } from '#work/lock-task.ts'
import { selectTaskId, touchTask } from '#work/task.sql.ts'
import { insertRelation, selectLeadsTo, selectRelation } from './relation.sql.ts'
import type { RelationRow } from './relation.sql.ts'
import { dependencyCycle, relationsEntity } from './relation.ts'

/**
 * Relates a task to another. Of two relations that would close a circle together exactly one is added,
 * also when they come at the same moment.
 *
 * Throws `not_found`, `dependency_cycle`, and `relation_exists` also for a second parent.
 */
export async function addRelation(
  sql: Sql,
  ctx: Ctx,
  input: { ref: string; type: RelationType; toTask: string },
): Promise<RelationRow> {
  const { ref, type, toTask } = input
  const toTaskId = found(await selectTaskId(sql, ctx, toTask), 'task', toTask)
  const from = await lockTask(sql, ctx, ref, [relationsEntity(ctx)])
  const edge = { type, fromTaskId: from.id, toTaskId }
  if (from.id === toTaskId) throw dependencyCycle(edge)
  const back = { type, fromTaskId: toTaskId, toTaskId: from.id }
  if (type !== 'relates_to' && (await selectLeadsTo(sql, ctx, back))) throw dependencyCycle(edge)
  const id = newId()
  await insertRelation(sql, ctx, { id, ...edge }).catch((cause: unknown) => {
    if (!isPgError(cause, PG.uniqueViolation)) throw cause
    throw new AppError(
      'relation_exists',
      `Cannot relate task "${from.id}" to "${toTaskId}": it has such a relation`,
      { details: edge },
    )
  })
  await appendEvent(sql, ctx, {
    type: 'task.relation_added',
    entityType: 'task',
    entityId: from.id,
    entityVersion: await touchTask(sql, ctx, from.id),
    workspaceId: from.workspaceId,
    payload: { relationId: id, toTaskId, type },
  })
  return found(await selectRelation(sql, ctx, id), 'relation', id)
}
