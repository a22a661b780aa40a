import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { requireBudget } from './budget.ts'
import { insertCheckpoint } from './checkpoint.sql.ts'
import type { CheckpointRow } from './checkpoint.sql.ts'
import { lockLiveRun, runNotActive } from './live-run.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import type { RunRow } from './run.sql.ts'

/**
 * Adds a checkpoint to a running run under its live claim; the journal gets its kind and number, not
 * its data. Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`,
 * `budget_exceeded`, `secret_refused`.
 */
export async function recordCheckpoint(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; fencingToken: number; kind: string; data: Record<string, unknown> },
): Promise<CheckpointRow> {
  const { kind, data } = input
  refuseSecretsIn({ data })
  const { run, claim } = await lockLiveRun(sql, ctx, input)
  requireBudget(run, 'other')
  const { checkpoint, event } = await addCheckpoint(sql, ctx, { run, claim, kind, data })
  await appendEvent(sql, ctx, event)
  return checkpoint
}

/** Adds the next checkpoint of a locked live run; the caller appends the event. */
export async function addCheckpoint(
  sql: Sql,
  ctx: Ctx,
  input: { run: RunRow; claim: ClaimRow; kind: string; data: Record<string, unknown> },
): Promise<{ checkpoint: CheckpointRow; event: NewEvent }> {
  const { run, claim, kind, data } = input
  const { fencingToken, sessionId } = claim
  const row = { id: newId(), runId: run.id, kind, data, fencingToken }
  const inserted = await insertCheckpoint(sql, ctx, row)
  if (!inserted) throw runNotActive(run)
  const { runVersion, ...checkpoint } = inserted
  const event: NewEvent = {
    type: 'run.checkpoint_recorded',
    entityType: 'run',
    entityId: run.id,
    entityVersion: runVersion,
    workspaceId: run.workspaceId,
    sessionId,
    payload: { taskId: run.taskId, kind, sequence: checkpoint.sequence },
  }
  return { checkpoint, event }
}
