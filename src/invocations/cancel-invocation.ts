import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { requirePermission } from '#org/permission.ts'
import { callOff } from './invocation-events.ts'
import type { InvocationRow } from './invocation.sql.ts'
import { lockInvocation, readInvocation } from './lock-invocation.ts'

/**
 * Calls a call off: its caller may, and who manages claims. An executor at work is refused from then on; what
 * it has done outside stays done.
 *
 * Throws `not_found`, `permission_denied`, `invocation_not_active`, `secret_refused`.
 */
export async function cancelInvocation(
  sql: Sql,
  ctx: Ctx,
  { id, reason }: { id: string; reason?: string | undefined },
): Promise<InvocationRow> {
  refuseSecretsIn({ reason })
  const call = await lockInvocation(sql, ctx, id)
  if (call.invokedBy !== ctx.actorId) requirePermission(ctx, 'claims.manage')
  const events = await callOff(sql, ctx, call, { reason: 'caller', said: reason ?? null })
  if (events.length === 0) {
    throw new AppError(
      'invocation_not_active',
      `Cannot cancel skill invocation "${id}": it is ${call.status}`,
      { details: { invocationStatus: call.status, reason: call.reason } },
    )
  }
  await appendEvents(sql, ctx, events)
  return await readInvocation(sql, ctx, id)
}
