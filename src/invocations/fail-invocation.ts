import type { InvocationError } from '#contract/skill-invocations.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { missAttempt } from './invocation-events.ts'
import { hasAttemptsLeft } from './invocation.ts'
import type { InvocationRow } from './invocation.sql.ts'
import { lockHeld, readInvocation, staleLease } from './lock-invocation.ts'
import type { Held } from './lock-invocation.ts'

/**
 * Ends an attempt without success. If the executor says that it may be tried again and the contract allows
 * one more, the call waits for the next attempt; else it has failed.
 *
 * Throws `not_found`, `stale_invocation_lease`, `secret_refused`.
 */
export async function failInvocation(
  sql: Sql,
  ctx: Ctx,
  input: Held & { error: InvocationError; retryable: boolean },
): Promise<InvocationRow> {
  const { error, retryable, ...held } = input
  refuseSecretsIn({ error })
  const { call, lease } = await lockHeld(sql, ctx, held)
  const status = retryable && hasAttemptsLeft(call) ? 'pending' : 'failed'
  const events = await missAttempt(sql, ctx, call, { status, reason: 'executor', error, lease })
  if (events.length === 0) throw staleLease(call.id, 'expired')
  await appendEvents(sql, ctx, events)
  return await readInvocation(sql, ctx, call.id)
}
