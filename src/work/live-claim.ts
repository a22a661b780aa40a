import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requireHandleShown } from './child-task.ts'
import { selectActiveClaim, selectClaim } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'

/** What a caller shows to write as the holder of a task. */
export interface Fence {
  claimId: string
  fencingToken: number
}

/** The same where a write may also come without a claim: both parts or neither. */
export interface MaybeFence {
  claimId?: string | undefined
  fencingToken?: number | undefined
}

/** A task that was read under its lock; its claim is not read again. */
interface Known {
  locked?: { claim: ClaimRow | undefined }
}

/**
 * The claim under which the caller may write to a task. It is live by the database clock (its own lease
 * and that of its session), the caller holds it, and no later claim of the task exists. Every write
 * made under a claim passes here, in its own transaction and after locking the task.
 *
 * Throws `not_found`, `claim_holder_mismatch`, `child_grant_exceeded`, or `stale_claim` with
 * `details.reason`.
 */
export async function requireLiveClaim(
  sql: Sql,
  ctx: Ctx,
  input: Fence & { taskId: string } & Known,
): Promise<ClaimRow> {
  const { taskId, claimId, fencingToken, locked } = input
  const known = locked?.claim?.id === claimId ? locked.claim : undefined
  const claim = found(known ?? (await selectClaim(sql, ctx, claimId)), 'claim', claimId)
  if (claim.principalId !== ctx.actorId) throw holderMismatch(claim)
  const reason = claim.taskId === taskId ? staleness(claim, fencingToken) : 'other_task'
  if (reason) throw staleClaim(claim, reason)
  requireHandleShown(ctx, claim)
  return claim
}

/**
 * Lets a write to a task pass: under the claim that is shown, or without one when nobody holds the
 * task. Returns the active claim; without a fence that is one whose lease ended unrecorded, or none.
 *
 * Throws what {@link requireLiveClaim} throws, and `task_claimed`.
 */
export async function requireFree(
  sql: Sql,
  ctx: Ctx,
  input: MaybeFence & { taskId: string } & Known,
): Promise<ClaimRow | undefined> {
  const { taskId, claimId, fencingToken, locked } = input
  if (claimId !== undefined && fencingToken !== undefined) {
    return await requireLiveClaim(sql, ctx, { ...input, claimId, fencingToken })
  }
  const claim = locked ? locked.claim : await selectActiveClaim(sql, ctx, taskId)
  if (!claim?.isLive) return claim
  throw new AppError('task_claimed', `Cannot write to task "${taskId}": it is claimed`, {
    details: {
      holderId: claim.principalId,
      expiresAt: claim.expiresAt.toISOString(),
      needed: ['claimId', 'fencingToken'],
    },
  })
}

/**
 * For renewing and releasing: the claim is live and the token its own. Throws `stale_claim` when it was
 * taken over or the token is another, else `claim_expired` or `claim_not_active`.
 */
export function requireActive(claim: ClaimRow, fencingToken: number): void {
  const reason = staleness(claim, fencingToken)
  if (!reason) return
  if (reason === 'expired') {
    throw new AppError('claim_expired', `Cannot use claim "${claim.id}": its lease ended`)
  }
  if (reason === 'released') {
    throw new AppError('claim_not_active', `Cannot use claim "${claim.id}": it was released`)
  }
  throw staleClaim(claim, reason)
}

/** Throws `claim_holder_mismatch`, or `permission_denied` for a holder who may not claim any more. */
export function requireHolder(ctx: Ctx, claim: ClaimRow): void {
  if (permits(ctx.permissions, 'claims.manage')) return
  if (claim.principalId !== ctx.actorId) throw holderMismatch(claim)
  if (permits(ctx.permissions, 'tasks.claim')) return
  throw new AppError('permission_denied', `Cannot use claim "${claim.id}" without tasks.claim`, {
    details: { required: 'tasks.claim' },
  })
}

type Staleness = 'token' | 'superseded' | 'released' | 'expired'

function staleness(claim: ClaimRow, fencingToken: number): Staleness | undefined {
  if (claim.fencingToken !== fencingToken) return 'token'
  if (claim.lastFencingToken > fencingToken) return 'superseded'
  if (claim.status === 'released') return 'released'
  return claim.isLive ? undefined : 'expired'
}

function staleClaim(claim: ClaimRow, reason: Staleness | 'other_task'): AppError {
  return new AppError('stale_claim', `Cannot write under claim "${claim.id}": it is not valid`, {
    details: { claimId: claim.id, reason },
  })
}

function holderMismatch(claim: ClaimRow): AppError {
  return new AppError(
    'claim_holder_mismatch',
    `Cannot use claim "${claim.id}": somebody else holds it`,
    { details: { holderId: claim.principalId } },
  )
}
