import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import { encodeCursor } from '#events/cursor.ts'
import { currentPosition } from '#events/read.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { selectTask } from '#work/task.sql.ts'
import type { TaskRow } from '#work/task.sql.ts'
import type { CheckpointRow } from './checkpoint.sql.ts'
import { lockLiveRun } from './live-run.ts'
import { addCheckpoint } from './record-checkpoint.ts'
import { requirePortable } from '#lib/refuse-secrets.ts'
import { selectRun } from './run.sql.ts'
import type { RunRow } from './run.sql.ts'
import { endBySuspension } from './suspend-run.ts'

export interface Handoff {
  run: RunRow
  task: TaskRow
  checkpoint: CheckpointRow
  /** A place in the journal before the handoff. */
  eventCursor: string
}

/**
 * Gives a task out of one's hands for somebody else to take up: a last checkpoint, the run suspended, the
 * claim released, all or nothing. Refuses what only makes sense on the machine it was written on. Budgets are not asked.
 *
 * Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`, `secret_refused`,
 * `invalid_request`.
 */
export async function handOffRun(
  sql: Sql,
  ctx: Ctx,
  input: {
    id: string
    fencingToken: number
    reason: string
    checkpoint: { kind: string; data: Record<string, unknown> }
  },
): Promise<Handoff> {
  const { reason, checkpoint } = input
  requirePortable({ checkpoint })
  const eventCursor = encodeCursor(await currentPosition(sql, ctx))
  const { run, claim } = await lockLiveRun(sql, ctx, input)
  const added = await addCheckpoint(sql, ctx, { run, claim, ...checkpoint })
  const ended = await endBySuspension(sql, ctx, { run, claim }, { reason })
  await appendEvents(sql, ctx, [added.event, ...ended])
  return {
    run: found(await selectRun(sql, ctx, run.id), 'run', run.id),
    task: found(await selectTask(sql, ctx, run.taskId), 'task', run.taskId),
    checkpoint: added.checkpoint,
    eventCursor,
  }
}
