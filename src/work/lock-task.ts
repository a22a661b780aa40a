import type { Sql } from '#db/sql.ts'
import { lockEntities, lockThen } from '#events/append.ts'
import type { Entity } from '#events/append.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { isUuid } from '#lib/id.ts'
import { lockTaskOfClaim, selectClaim } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { lockTaskRow } from './locked-task.sql.ts'
import type { LockedTask } from './locked-task.sql.ts'
import { selectTaskId } from './task.sql.ts'

/** The lock under which a task, its claims and its runs change, and their events are ordered. */
export function taskEntity(taskId: string): Entity {
  return { type: 'task', id: taskId }
}

/**
 * Locks a task, and whatever else the command will change, then reads the task. A look-up of the id comes
 * before only for a public id: it assigns no transaction id. Throws `not_found`.
 */
export async function lockTask(
  sql: Sql,
  ctx: Ctx,
  ref: string,
  others: readonly Entity[] = [],
): Promise<LockedTask> {
  const { task } = await lockTaskAnd(sql, ctx, { ref, others }, () => Promise.resolve())
  return task
}

/** The same together with what else is read under the locks, in one round trip; see lockThen. */
export async function lockTaskAnd<T>(
  sql: Sql,
  ctx: Ctx,
  { ref, others }: { ref: string; others: readonly Entity[] },
  read: () => Promise<T>,
): Promise<{ task: LockedTask; rest: T }> {
  const id = isUuid(ref) ? ref : found(await selectTaskId(sql, ctx, ref), 'task', ref)
  const [task, rest] = await lockThen(
    () => lockEntities(sql, ctx, [...others, taskEntity(id)]),
    () => Promise.all([lockTaskRow(sql, ctx, id), read()]),
  )
  return { task: found(task, 'task', ref), rest }
}

/** Locks the task of a claim, then reads the claim as it is under that lock. Throws `not_found`. */
export async function lockClaim(sql: Sql, ctx: Tenancy, id: string): Promise<ClaimRow> {
  const claim = await lockThen(
    () => lockTaskOfClaim(sql, ctx, id),
    () => selectClaim(sql, ctx, id),
  )
  return found(claim, 'claim', id)
}
