import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { lockLiveRun, runNotActive } from './live-run.ts'
import { insertCheckpoint } from './run.sql.ts'
import type { CheckpointRow } from './run.sql.ts'

/**
 * Adds a checkpoint to a running run under its live claim; the journal gets its kind and number, not
 * its data. Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`.
 */
export async function recordCheckpoint(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; fencingToken: number; kind: string; data: Record<string, unknown> },
): Promise<CheckpointRow> {
  const { kind, data, fencingToken } = input
  const { run, claim } = await lockLiveRun(sql, ctx, input)
  const row = { id: newId(), runId: run.id, kind, data, fencingToken }
  const checkpoint = await insertCheckpoint(sql, ctx, row)
  if (!checkpoint) throw runNotActive(run)
  await appendEvent(sql, ctx, {
    type: 'run.checkpoint_recorded',
    entityType: 'run',
    entityId: run.id,
    entityVersion: checkpoint.runVersion,
    workspaceId: run.workspaceId,
    sessionId: claim.sessionId,
    payload: { taskId: run.taskId, kind, sequence: checkpoint.sequence },
  })
  return checkpoint
}
