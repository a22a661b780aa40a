import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { updateActionFinished } from '#runs/action.sql.ts'
import { survivesLostLease } from './invocation.ts'
import type { Withdrawal } from './invocation.ts'
import { updateCancelled, updateMissed } from './invocation-writes.sql.ts'
import type { InvocationRow } from './invocation.sql.ts'
import type { Miss } from './invocation-writes.sql.ts'

/** What every event of a call says of it. */
export function entityOf(call: Pick<InvocationRow, 'id' | 'workspaceId'>, entityVersion: number) {
  const { id: entityId, workspaceId } = call
  return { entityType: 'skill_invocation', entityId, entityVersion, workspaceId }
}

/** The action of the run, if any, ends as the call did; unless its run said before how it ended. */
export async function finishActionOf(
  sql: Sql,
  ctx: Tenancy,
  { actionId }: Pick<InvocationRow, 'actionId'>,
  status: 'succeeded' | 'failed' | 'cancelled',
): Promise<void> {
  if (actionId === null) return
  await updateActionFinished(sql, ctx, {
    id: actionId,
    status,
    externalReference: null,
    metadata: {},
  })
}

/** Ends an attempt that brought no success; the caller appends the events, none when it had ended otherwise. */
export async function missAttempt(
  sql: Sql,
  ctx: Tenancy,
  call: InvocationRow,
  miss: Omit<Miss, 'id'>,
): Promise<NewEvent[]> {
  const version = await updateMissed(sql, ctx, { id: call.id, ...miss })
  if (version === undefined) return []
  const { skillId, fencingToken } = call
  const payload = { skillId, fencingToken, reason: miss.reason }
  if (miss.status === 'pending') {
    return [{ ...entityOf(call, version), type: 'skill_invocation.retry_scheduled', payload }]
  }
  await finishActionOf(sql, ctx, call, 'failed')
  return [{ ...entityOf(call, version), type: 'skill_invocation.failed', payload }]
}

/** Ends an attempt whose executor was lost without a word, whether the worker or the next executor finds it. */
export async function loseLease(sql: Sql, ctx: Tenancy, call: InvocationRow): Promise<NewEvent[]> {
  const status = survivesLostLease(call) ? 'pending' : 'failed'
  const miss = { status, reason: 'lease_expired', error: null, lease: undefined } as const
  return await missAttempt(sql, ctx, call, miss)
}

/** Calls a call off; `said` is kept with it and stays out of the journal. */
export async function callOff(
  sql: Sql,
  ctx: Tenancy,
  call: InvocationRow,
  { reason, said }: { reason: 'caller' | Withdrawal; said: string | null },
): Promise<NewEvent[]> {
  const version = await updateCancelled(sql, ctx, { id: call.id, reason: said ?? reason })
  if (version === undefined) return []
  await finishActionOf(sql, ctx, call, 'cancelled')
  const payload = { skillId: call.skillId, reason }
  return [{ ...entityOf(call, version), type: 'skill_invocation.cancelled', payload }]
}
