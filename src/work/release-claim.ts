import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { selectClaim, selectRunningRunId } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { requireActive, requireHolder } from './live-claim.ts'
import { lockClaim } from './lock-task.ts'

/**
 * Gives a claimed task back, so that others can claim it.
 *
 * Throws `not_found`, `claim_holder_mismatch`, `permission_denied`, `stale_claim`, `claim_expired`,
 * `claim_not_active`, `run_in_progress`.
 */
export async function releaseClaim(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; fencingToken: number; reason?: string | undefined },
): Promise<ClaimRow> {
  const { id, fencingToken, reason = 'released' } = input
  const claim = await lockClaim(sql, ctx, id)
  requireHolder(ctx, claim)
  requireActive(claim, fencingToken)
  requireNoRun(claim, await selectRunningRunId(sql, ctx, id))
  const end = { status: 'released', reason, releaseTask: true } as const
  await appendEvents(sql, ctx, await endClaim(sql, ctx, claim, end))
  return found(await selectClaim(sql, ctx, id), 'claim', id)
}

/** Throws `run_in_progress` when work is going on under the claim: end the run first. */
export function requireNoRun(claim: ClaimRow, runId: string | null | undefined): void {
  if (runId === undefined || runId === null) return
  throw new AppError(
    'run_in_progress',
    `Cannot end claim "${claim.id}": run "${runId}" is going on`,
    { details: { runId } },
  )
}
