import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { lockThen } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { extendClaim, lockTaskOfClaim, selectClaim } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { requireActive, requireHolder } from './live-claim.ts'

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
  const { id, fencingToken, ttlSeconds = null } = input
  const isManager = permits(ctx.permissions, 'claims.manage')
  const renewed = await lockThen(
    () => lockTaskOfClaim(sql, ctx, id),
    () =>
      extendClaim(sql, ctx, {
        id,
        fencingToken,
        ttlSeconds,
        holderId: isManager ? null : ctx.actorId,
      }),
  )
  if (renewed) {
    requireHolder(ctx, renewed)
    return renewed
  }
  const claim = found(await selectClaim(sql, ctx, id), 'claim', id)
  requireHolder(ctx, claim)
  requireActive(claim, fencingToken)
  throw new AppError('claim_expired', `Cannot renew claim "${id}": its lease ended`)
}
