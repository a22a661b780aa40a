import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { extendLease } from './invocation-writes.sql.ts'
import type { InvocationRow } from './invocation.sql.ts'
import { lockHeld, readInvocation, staleLease } from './lock-invocation.ts'
import type { Held } from './lock-invocation.ts'

/**
 * Renews the lease of an attempt by its whole length; not an event. A lease that ended is never revived.
 * Throws `not_found`, `stale_invocation_lease`.
 */
export async function heartbeatInvocation(sql: Sql, ctx: Ctx, held: Held): Promise<InvocationRow> {
  const { call, lease } = await lockHeld(sql, ctx, held)
  const isRenewed = await extendLease(sql, ctx, { id: call.id, lease })
  if (!isRenewed) throw staleLease(call.id, 'expired')
  return await readInvocation(sql, ctx, call.id)
}
