import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { selectDelegation, updateDelegationRevoked } from './delegation.sql.ts'
import type { DelegationRow } from './delegation.sql.ts'

/**
 * Ends a delegation: from the commit on no session is opened, renewed or used to claim by it. Open to
 * who manages delegations and to the person; to others of the tenant it does not exist. Idempotent.
 */
export async function revokeDelegation(
  sql: Sql,
  ctx: Ctx,
  { id }: { id: string },
): Promise<DelegationRow> {
  await lockEntities(sql, ctx, [{ type: 'delegation', id }])
  const row = await selectDelegation(sql, ctx, id)
  const before = found(row && isParty(ctx, row) ? row : undefined, 'delegation', id)
  if (before.humanPrincipalId !== ctx.actorId) requirePermission(ctx, 'delegations.manage')
  if (before.status === 'revoked') return before
  const after = await updateDelegationRevoked(sql, ctx, id)
  const { humanPrincipalId, agentPrincipalId } = after
  await appendEvent(sql, ctx, {
    type: 'delegation.revoked',
    entityType: 'delegation',
    entityId: id,
    entityVersion: 2,
    workspaceId: null,
    payload: { humanPrincipalId, agentPrincipalId },
  })
  return after
}

function isParty(ctx: Ctx, { humanPrincipalId, agentPrincipalId }: DelegationRow): boolean {
  const parties = [humanPrincipalId, agentPrincipalId]
  return permits(ctx.permissions, 'delegations.manage') || parties.includes(ctx.actorId)
}
