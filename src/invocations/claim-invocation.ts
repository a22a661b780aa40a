import { appendEvents } from '#events/append.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { entityOf, loseLease } from './invocation-events.ts'
import { claimRefusal, withdrawal } from './invocation.ts'
import { updateClaimed } from './invocation-writes.sql.ts'
import type { InvocationRow } from './invocation.sql.ts'
import { lockInvocation, readInvocation } from './lock-invocation.ts'

/**
 * Gives the caller the only right to execute a call, for the timeout of its contract and 30 seconds. The lease
 * goes by the database clock; an attempt whose lease is over is ended here as the worker would end it. Every
 * attempt has a larger fencing token, so an executor that wakes up late is refused when it writes.
 *
 * Throws `not_found`, `invocation_already_claimed`, `invocation_not_due`, `invocation_not_active`.
 */
export async function claimInvocation(
  sql: Sql,
  ctx: Ctx,
  { id }: { id: string },
): Promise<InvocationRow> {
  const call = await lockInvocation(sql, ctx, id)
  refuse(call)
  const lost = call.status === 'running' ? await loseLease(sql, ctx, call) : []
  if (!(await updateClaimed(sql, ctx, id))) throw notActive(call)
  const claimed = await readInvocation(sql, ctx, id)
  const { skillId, fencingToken, version } = claimed
  await appendEvents(sql, ctx, [
    ...lost,
    {
      ...entityOf(claimed, version),
      type: 'skill_invocation.claimed',
      payload: { skillId, executorId: ctx.actorId, fencingToken },
    },
  ])
  return claimed
}

function refuse(call: InvocationRow): void {
  const refusal = claimRefusal(call)
  const { waitSeconds: retryAfterSeconds } = call
  if (refusal === 'not_active') throw notActive(call)
  if (refusal === 'already_claimed') {
    const expiresAt = call.leaseExpiresAt?.toISOString()
    throw new AppError(
      'invocation_already_claimed',
      `Cannot claim skill invocation "${call.id}": it is being executed`,
      { details: { executorId: call.executorId, expiresAt }, retryAfterSeconds },
    )
  }
  if (refusal === 'not_due') {
    throw new AppError(
      'invocation_not_due',
      `Cannot claim skill invocation "${call.id}": its next attempt comes later`,
      { details: { availableAt: call.dueAt.toISOString() }, retryAfterSeconds },
    )
  }
}

function notActive(call: InvocationRow): AppError {
  const { status, reason } = call
  const why = reason ?? withdrawal(call) ?? (status === 'running' ? 'lease_expired' : null)
  return new AppError(
    'invocation_not_active',
    `Cannot claim skill invocation "${call.id}": it is not waiting for an executor`,
    { details: { invocationStatus: status, reason: why } },
  )
}
