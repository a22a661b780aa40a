import type { RunAction } from '#contract/run-actions.ts'
import type { RouteReply } from '#contract/route.ts'
import type { handOffRun } from '#contract/run-stops.ts'
import type { Checkpoint, Run } from '#contract/runs.ts'
import { taskReply } from '#work/replies.ts'
import { publicIdOf } from '#work/task.ts'
import type { ActionRow } from './action.sql.ts'
import type { CheckpointRow } from './checkpoint.sql.ts'
import type { Handoff } from './hand-off-run.ts'
import type { RunRow } from './run.sql.ts'

/** Rows as the contract shows them. */
export function runReply(row: RunRow): Run {
  const { taskNumber, workspaceId: _, checkpointCount: __, ageSeconds: ___, ...rest } = row
  const { ancestorIds: ____, createdAt, cancelRequestedAt, finishedAt, ...plain } = rest
  return {
    ...plain,
    taskPublicId: publicIdOf(taskNumber),
    cancelRequestedAt: cancelRequestedAt?.toISOString() ?? null,
    startedAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}

export function checkpointReply(row: CheckpointRow): Checkpoint {
  const { id, runId, sequence, kind, data } = row
  return { id, runId, sequence, kind, data, createdAt: row.createdAt.toISOString() }
}

export function actionReply({ createdAt, finishedAt, ...row }: ActionRow): RunAction {
  return {
    ...row,
    startedAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}

export function handoffReply(handoff: Handoff): RouteReply<typeof handOffRun> {
  const run = runReply(handoff.run)
  const task = taskReply(handoff.task)
  const checkpoint = checkpointReply(handoff.checkpoint)
  const path = `/api/v1/tasks/${task.publicId}`
  return {
    run,
    task,
    checkpoint,
    eventCursor: handoff.eventCursor,
    resume: {
      taskId: task.id,
      taskPublicId: task.publicId,
      nextAttempt: run.attempt + 1,
      checkpointId: checkpoint.id,
      claimPath: `${path}:claim`,
      startRunPath: `${path}:start-run`,
    },
  }
}
