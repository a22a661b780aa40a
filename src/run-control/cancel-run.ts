import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectRun } from '#runs/run.sql.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { endByCancel, requireRunHolder } from '#runs/stop-run.ts'
import { selectClaim } from '#work/claim.sql.ts'
import { endClaim } from '#work/end-claim.ts'
import { askChildrenToStop, lockRunTree } from './child-runs.ts'
import type { RunTree } from './child-runs.ts'

/**
 * Cancels a run that is not wanted any more; needs no lease and leaves task and claim as they are. Its
 * children are asked to stop unless they were made to outlive it.
 *
 * Throws `not_found`, `run_holder_mismatch`, `permission_denied`, `run_not_active`.
 */
export async function cancelRun(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; reason?: string | undefined },
): Promise<RunRow> {
  const { run, children } = await lockRunTree(sql, ctx, input.id)
  requireRunHolder(ctx, run)
  const events = [
    await endByCancel(sql, ctx, run, input.reason ?? null),
    ...(await askChildrenToStop(sql, ctx, children)),
  ]
  await appendEvents(sql, ctx, events)
  return found(await selectRun(sql, ctx, run.id), 'run', run.id)
}

/**
 * Cancels a locked run against its holder: the claim is released too, so that whatever the holder still
 * writes is refused. The caller appends the events.
 */
export async function forceCancel(
  sql: Sql,
  ctx: Ctx,
  { run, children }: RunTree,
): Promise<NewEvent[]> {
  const reason = 'force_cancelled'
  const cancelled = await endByCancel(sql, ctx, run, reason)
  const claim = found(await selectClaim(sql, ctx, run.claimId), 'claim', run.claimId)
  const released = { status: 'released', reason, releaseTask: true } as const
  return [
    cancelled,
    ...(await endClaim(sql, ctx, claim, released)),
    ...(await askChildrenToStop(sql, ctx, children)),
  ]
}
