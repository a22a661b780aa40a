import type { NewEvent } from '#contract/events.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { endedWithClaim, lockRun, runNotActive } from './live-run.ts'
import { selectRun, updateRunEnded } from './run.sql.ts'
import type { RunRow } from './run.sql.ts'

/**
 * Ends a run without success; needs no lease and leaves task and claim as they are. A run that failed
 * with its claim stays as it is: its owner, reporting the failure late, is not refused.
 *
 * Throws `not_found`, `run_holder_mismatch`, `permission_denied`, `run_not_active`.
 */
export async function failRun(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; reason: string },
): Promise<RunRow> {
  const { id, reason } = input
  const run = await lockRun(sql, ctx, id)
  requireRunHolder(ctx, run)
  if (endedWithClaim(run)) return run
  await appendEvent(sql, ctx, await endRun(sql, ctx, run, { status: 'failed', reason }))
  return found(await selectRun(sql, ctx, id), 'run', id)
}

/** Cancels a locked run; the caller appends the event. Throws `run_not_active`. */
export async function endByCancel(
  sql: Sql,
  ctx: Ctx,
  run: RunRow,
  reason: string | null,
): Promise<NewEvent> {
  return await endRun(sql, ctx, run, { status: 'cancelled', reason })
}

async function endRun(
  sql: Sql,
  ctx: Ctx,
  run: RunRow,
  end: { status: 'failed' | 'cancelled'; reason: string | null },
): Promise<NewEvent> {
  const version = await updateRunEnded(sql, ctx, { id: run.id, ...end })
  if (version === undefined) throw runNotActive(run)
  return {
    type: end.status === 'failed' ? 'run.failed' : 'run.cancelled',
    entityType: 'run',
    entityId: run.id,
    entityVersion: version,
    workspaceId: run.workspaceId,
    sessionId: run.sessionId,
    payload: { taskId: run.taskId, attempt: run.attempt, reason: end.reason },
  }
}

/** Throws `run_holder_mismatch`, or `permission_denied` for a holder who may not claim any more. */
export function requireRunHolder(ctx: Ctx, run: { id: string; principalId: string }): void {
  if (permits(ctx.permissions, 'claims.manage')) return
  if (run.principalId !== ctx.actorId) {
    throw new AppError('run_holder_mismatch', `Cannot end run "${run.id}": somebody else's`, {
      details: { holderId: run.principalId },
    })
  }
  if (permits(ctx.permissions, 'tasks.claim')) return
  throw new AppError('permission_denied', `Cannot end run "${run.id}" without tasks.claim`, {
    details: { required: 'tasks.claim' },
  })
}
