import type { Sql } from '#db/sql.ts'
import { lockThen } from '#events/append.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { selectClaimOfRun } from '#work/claim.sql.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { LEASE_REASONS } from '#work/end-claim.ts'
import { requireLiveClaim } from '#work/live-claim.ts'
import { lockTaskOfRun, selectRun } from './run.sql.ts'
import type { RunRow } from './run.sql.ts'

/** Locks the task of a run, then reads the run as it is under that lock. Throws `not_found`. */
export async function lockRun(sql: Sql, ctx: Tenancy, id: string): Promise<RunRow> {
  const run = await lockThen(
    () => lockTaskOfRun(sql, ctx, id),
    () => selectRun(sql, ctx, id),
  )
  return found(run, 'run', id)
}

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
  const { id, fencingToken } = input
  const [row, held] = await lockThen(
    () => lockTaskOfRun(sql, ctx, id),
    () => Promise.all([selectRun(sql, ctx, id), selectClaimOfRun(sql, ctx, id)]),
  )
  const run = found(row, 'run', id)
  if (run.status !== 'running' && !endedWithClaim(run)) throw runNotActive(run)
  const { taskId, claimId } = run
  const locked = { claim: held }
  const claim = await requireLiveClaim(sql, ctx, { taskId, claimId, fencingToken, locked })
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
