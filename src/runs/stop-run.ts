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
  return await stopRun(sql, ctx, { ...input, status: 'failed' })
}

/** The same for a run that is not wanted any more. */
export async function cancelRun(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; reason?: string | undefined },
): Promise<RunRow> {
  return await stopRun(sql, ctx, { ...input, status: 'cancelled' })
}

async function stopRun(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; reason?: string | undefined; status: 'failed' | 'cancelled' },
): Promise<RunRow> {
  const { id, status, reason = null } = input
  const run = await lockRun(sql, ctx, id)
  requireRunHolder(ctx, run)
  if (status === 'failed' && endedWithClaim(run)) return run
  const version = await updateRunEnded(sql, ctx, { id, status, reason })
  if (version === undefined) throw runNotActive(run)
  await appendEvent(sql, ctx, {
    type: status === 'failed' ? 'run.failed' : 'run.cancelled',
    entityType: 'run',
    entityId: run.id,
    entityVersion: version,
    workspaceId: run.workspaceId,
    sessionId: run.sessionId,
    payload: { taskId: run.taskId, attempt: run.attempt, reason },
  })
  return found(await selectRun(sql, ctx, id), 'run', id)
}

function requireRunHolder(ctx: Ctx, run: RunRow): void {
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
