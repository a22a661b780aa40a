import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import type { ClaimRow } from './claim.sql.ts'
import { LEASE_REASONS } from './end-claim.ts'
import { requireLiveClaim } from './live-claim.ts'
import { lockRun } from './lock-task.ts'
import type { RunRow } from './run.sql.ts'

/**
 * Locks the task of a run and reads the run and its claim, both of which must still be going on. A
 * caller whose claim was lost learns that, although the run ended with it.
 *
 * Throws `not_found`, `stale_claim`, `claim_holder_mismatch`, `run_not_active`.
 */
export async function lockLiveRun(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; fencingToken: number },
): Promise<{ run: RunRow; claim: ClaimRow }> {
  const run = await lockRun(sql, ctx, input.id)
  if (run.status !== 'running' && !endedWithClaim(run)) throw runNotActive(run)
  const { taskId, claimId } = run
  const { fencingToken } = input
  const claim = await requireLiveClaim(sql, ctx, { taskId, claimId, fencingToken })
  if (run.status !== 'running') throw runNotActive(run)
  return { run, claim }
}

/** True for a run that nobody ended: it failed when its claim was lost. */
export function endedWithClaim(run: RunRow): boolean {
  return run.status === 'failed' && LEASE_REASONS.includes(run.reason ?? '')
}

export function runNotActive(run: RunRow): AppError {
  return new AppError('run_not_active', `Cannot change run "${run.id}": it is ${run.status}`, {
    details: { status: run.status, reason: run.reason },
  })
}
