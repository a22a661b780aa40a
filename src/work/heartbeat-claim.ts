import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { extendClaim, selectClaim } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { requireActive, requireHolder } from './live-claim.ts'
import { lockClaim } from './lock-task.ts'

/**
 * Renews the lease of a live claim; not an event. A claim that ended is never revived. `ttlSeconds`
 * undefined keeps the length it has.
 *
 * Throws `not_found`, `claim_holder_mismatch`, `permission_denied`, `stale_claim`, `claim_expired`,
 * `claim_not_active`.
 */
export async function heartbeatClaim(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; fencingToken: number; ttlSeconds: number | undefined },
): Promise<ClaimRow> {
  const { id, fencingToken } = input
  const claim = await lockClaim(sql, ctx, id)
  requireHolder(ctx, claim)
  requireActive(claim, fencingToken)
  const { ttlSeconds = claim.ttlSeconds } = input
  if (!(await extendClaim(sql, ctx, { id, ttlSeconds }))) {
    throw new AppError('claim_expired', `Cannot renew claim "${id}": its lease ended`)
  }
  return found(await selectClaim(sql, ctx, id), 'claim', id)
}
