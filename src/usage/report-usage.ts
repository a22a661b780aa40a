import type { Sql } from '#db/sql.ts'
import { appendEvent, appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { usedUpOf } from '#runs/budget.ts'
import { lockLiveRun, lockRun } from '#runs/live-run.ts'
import { markCancelRequested } from '#runs/request-cancel.ts'
import { selectRun } from '#runs/run.sql.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { selectClaim } from '#work/claim.sql.ts'
import { recordReport } from './record-report.ts'
import type { NewReport, Recorded } from './record-report.ts'

/** A report, and the run as it is afterwards. */
export type Reported = Recorded & { run: RunRow }

/**
 * Records what a run used, under its live claim. Not an event, like a heartbeat; budgets are not asked:
 * what was used is used. When nothing is left of a budget, the run is asked to stop, if it was not before.
 *
 * Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`, `usage_sequence_reused`.
 */
export async function reportUsage(
  sql: Sql,
  ctx: Ctx,
  input: NewReport & { id: string; fencingToken: number },
): Promise<Reported> {
  const { run: before } = await lockLiveRun(sql, ctx, input)
  const recorded = await recordReport(sql, ctx, before, input)
  const run = await readRun(sql, ctx, before.id)
  const [budget] = usedUpOf(run)
  if (budget === undefined || run.cancelRequestedAt !== null) return { ...recorded, run }
  await appendEvents(sql, ctx, await markCancelRequested(sql, ctx, run, { budget }))
  return { ...recorded, run: await readRun(sql, ctx, run.id) }
}

/**
 * Records what a run used that has ended, or whose claim was lost: it is spent whoever holds the task now,
 * and adds to this run and those above it. Only whoever worked on it may.
 *
 * Throws `not_found`, `run_holder_mismatch`, `run_in_progress`, `usage_sequence_reused`.
 */
export async function reportLateUsage(
  sql: Sql,
  ctx: Ctx,
  input: NewReport & { id: string },
): Promise<Reported> {
  const run = await lockRun(sql, ctx, input.id)
  if (run.principalId !== ctx.actorId) {
    throw new AppError('run_holder_mismatch', `Cannot tell the use of run "${run.id}": not yours`, {
      details: { holderId: run.principalId },
    })
  }
  await requireOver(sql, ctx, run)
  const recorded = await recordReport(sql, ctx, run, { ...input, fencingToken: null })
  if (!recorded.deduplicated) await tellLate(sql, ctx, run, recorded)
  return { ...recorded, run: await readRun(sql, ctx, run.id) }
}

async function readRun(sql: Sql, ctx: Ctx, id: string): Promise<RunRow> {
  return found(await selectRun(sql, ctx, id), 'run', id)
}

async function requireOver(sql: Sql, ctx: Ctx, run: RunRow): Promise<void> {
  if (run.status !== 'running') return
  const claim = found(await selectClaim(sql, ctx, run.claimId), 'claim', run.claimId)
  if (!claim.isLive) return
  throw new AppError(
    'run_in_progress',
    `Cannot tell the use of run "${run.id}" late: it is going on, under its claim`,
    { details: { runId: run.id } },
  )
}

/** The use itself stands with the run: the journal tells whoever read that when it ended. */
async function tellLate(sql: Sql, ctx: Ctx, run: RunRow, { report }: Recorded): Promise<void> {
  await appendEvent(sql, ctx, {
    type: 'run.late_usage_recorded',
    entityType: 'usage_report',
    entityId: report.id,
    entityVersion: 1,
    workspaceId: run.workspaceId,
    sessionId: run.sessionId,
    payload: { taskId: run.taskId, runId: run.id, sequence: report.sequence },
  })
}
