import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { selectClaim } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { lockClaim } from './lock-task.ts'

/**
 * Records the end of a claim whose lease is over, so that its task is open again at once. A claim that
 * was recorded as expired before stays as it is. Throws `not_found`, `claim_not_expired`,
 * `claim_not_active`.
 */
export async function reclaimClaim(sql: Sql, ctx: Ctx, id: string): Promise<ClaimRow> {
  const claim = await lockClaim(sql, ctx, id)
  if (claim.status === 'released') {
    throw new AppError('claim_not_active', `Cannot reclaim claim "${id}": it was released`)
  }
  if (claim.isLive) {
    throw new AppError('claim_not_expired', `Cannot reclaim claim "${id}": its lease is live`, {
      details: { expiresAt: claim.expiresAt.toISOString() },
      retryAfterSeconds: claim.remainingSeconds,
    })
  }
  const end = { status: 'expired', reason: 'lease_expired', releaseTask: true } as const
  await appendEvents(sql, ctx, await endClaim(sql, ctx, claim, end))
  return found(await selectClaim(sql, ctx, id), 'claim', id)
}
