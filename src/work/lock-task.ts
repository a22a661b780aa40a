import type { Sql } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import type { Entity } from '#events/append.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectClaim } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { lockTaskRow, selectTaskId } from './task.sql.ts'
import type { LockedTask } from './task.sql.ts'

/** The lock under which a task, its claims and its runs change, and their events are ordered. */
export function taskEntity(taskId: string): Entity {
  return { type: 'task', id: taskId }
}

/**
 * Locks a task, and whatever else the command will change, then reads the task. Only the look-up of the
 * id comes before: it assigns no transaction id. Throws `not_found`.
 */
export async function lockTask(
  sql: Sql,
  ctx: Ctx,
  ref: string,
  others: readonly Entity[] = [],
): Promise<LockedTask> {
  const id = found(await selectTaskId(sql, ctx, ref), 'task', ref)
  await lockEntities(sql, ctx, [...others, taskEntity(id)])
  return found(await lockTaskRow(sql, ctx, id), 'task', ref)
}

/** Locks the task of a claim, then reads the claim as it is under that lock. Throws `not_found`. */
export async function lockClaim(sql: Sql, ctx: Tenancy, id: string): Promise<ClaimRow> {
  const { taskId } = found(await selectClaim(sql, ctx, id), 'claim', id)
  await lockEntities(sql, ctx, [taskEntity(taskId)])
  return found(await selectClaim(sql, ctx, id), 'claim', id)
}
