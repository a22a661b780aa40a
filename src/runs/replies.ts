import type { Checkpoint, Run } from '#contract/runs.ts'
import { publicIdOf } from '#work/task.ts'
import type { CheckpointRow, RunRow } from './run.sql.ts'

/** Rows as the contract shows them. */
export function runReply(row: RunRow): Run {
  const { taskNumber, workspaceId: _, checkpointCount: __, createdAt, finishedAt, ...rest } = row
  return {
    ...rest,
    taskPublicId: publicIdOf(taskNumber),
    startedAt: createdAt.toISOString(),
    finishedAt: finishedAt?.toISOString() ?? null,
  }
}

export function checkpointReply(row: CheckpointRow): Checkpoint {
  const { id, runId, sequence, kind, data } = row
  return { id, runId, sequence, kind, data, createdAt: row.createdAt.toISOString() }
}
