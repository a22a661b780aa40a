import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { badField } from '#lib/bad-field.ts'
import { AppError, found } from '#lib/errors.ts'
import { endClaim } from '#work/end-claim.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { selectAwaited } from '#work/gate.sql.ts'
import { lockLiveRun, runNotActive } from './live-run.ts'
import { selectRun, updateRunEnded } from './run.sql.ts'
import type { RunRow } from './run.sql.ts'

export interface Suspension {
  reason: string
  waitingForApprovalId?: string | null | undefined
}

/**
 * Stops a run that cannot go on now. Its claim is released and its task can be claimed again; the next
 * run finds the checkpoints. Budgets are not asked.
 *
 * Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`,
 * `approval_already_decided`, `invalid_request`.
 */
export async function suspendRun(
  sql: Sql,
  ctx: Ctx,
  input: Suspension & { id: string; fencingToken: number },
): Promise<RunRow> {
  const { run, claim } = await lockLiveRun(sql, ctx, input)
  if (input.waitingForApprovalId) await requireAwaitable(sql, ctx, run, input.waitingForApprovalId)
  await appendEvents(sql, ctx, await endBySuspension(sql, ctx, { run, claim }, input))
  return found(await selectRun(sql, ctx, run.id), 'run', run.id)
}

/**
 * A run waits for an approval of its own task that is pending: for another nobody would wake it. The
 * caller holds the task's lock, under which such an approval is decided.
 */
async function requireAwaitable(sql: Sql, ctx: Ctx, { taskId }: RunRow, id: string): Promise<void> {
  const approval = found(await selectAwaited(sql, ctx, id), 'approval', id)
  if (approval.taskId !== taskId) {
    throw badField('waitingForApprovalId', "must be an approval of the run's task")
  }
  if (approval.status === 'pending') return
  throw new AppError(
    'approval_already_decided',
    `Cannot wait for approval "${id}": it is ${approval.status}`,
    { details: { decision: approval.status } },
  )
}

/** Suspends a locked live run and releases its claim and task; the caller appends the events. */
export async function endBySuspension(
  sql: Sql,
  ctx: Ctx,
  { run, claim }: { run: RunRow; claim: ClaimRow },
  { reason, waitingForApprovalId = null }: Suspension,
): Promise<NewEvent[]> {
  const end = { id: run.id, status: 'suspended', reason, waitingForApprovalId } as const
  const version = await updateRunEnded(sql, ctx, end)
  if (version === undefined) throw runNotActive(run)
  const { taskId, attempt, workspaceId } = run
  const released = { status: 'released', reason: 'run_suspended', releaseTask: true } as const
  return [
    {
      type: 'run.suspended',
      entityType: 'run',
      entityId: run.id,
      entityVersion: version,
      workspaceId,
      sessionId: claim.sessionId,
      payload: { taskId, attempt, reason, waitingForApprovalId },
    },
    ...(await endClaim(sql, ctx, claim, released)),
  ]
}
