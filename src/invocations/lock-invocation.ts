import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { lockEntities, lockThen } from '#events/append.ts'
import type { Entity } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { staleness } from './invocation.ts'
import { selectInvocation } from './invocation.sql.ts'
import type { InvocationRow } from './invocation.sql.ts'
import type { Lease } from './invocation-writes.sql.ts'

export function invocationEntity(id: string): Entity {
  return { type: 'skill_invocation', id }
}

/** Locks a call, then reads it as it is under the lock. Throws `not_found`. */
export async function lockInvocation(sql: Sql, ctx: Ctx, id: string): Promise<InvocationRow> {
  return await lockThen(
    () => lockEntities(sql, ctx, [invocationEntity(id)]),
    () => readInvocation(sql, ctx, id),
  )
}

/** A call that the caller may see: its own, or any with skills.execute or claims.manage. Throws `not_found`. */
export async function readInvocation(sql: Sql, ctx: Ctx, id: string): Promise<InvocationRow> {
  const call = await selectInvocation(sql, ctx, id)
  const may = call?.invokedBy === ctx.actorId || seesAll(ctx)
  return found(may ? call : undefined, 'skill invocation', id)
}

/** Whether the caller sees what others called. */
export function seesAll({ permissions }: Ctx): boolean {
  return permits(permissions, 'skills.execute') || permits(permissions, 'claims.manage')
}

/** What an executor shows to write to a call. */
export interface Held {
  id: string
  fencingToken: number
}

/**
 * Locks a call of which the caller executes the newest attempt, and answers the lease that its write shows to
 * the database once more. Throws `not_found`, `stale_invocation_lease`.
 */
export async function lockHeld(
  sql: Sql,
  ctx: Ctx,
  { id, fencingToken }: Held,
): Promise<{ call: InvocationRow; lease: Lease }> {
  const call = await lockInvocation(sql, ctx, id)
  const lease = { executorId: ctx.actorId, fencingToken }
  const reason = staleness(call, lease)
  if (reason) throw staleLease(id, reason)
  return { call, lease }
}

/** That the lease of a call is not, or no longer, the executor's. */
export function staleLease(id: string, reason: string): AppError {
  return new AppError(
    'stale_invocation_lease',
    `Cannot write to skill invocation "${id}": you do not hold its lease`,
    { details: { invocationId: id, reason } },
  )
}
