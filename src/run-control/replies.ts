import type { ChildHandle } from '#contract/child-handles.ts'
import type { ControlMessage } from '#contract/control-messages.ts'
import { publicIdOf } from '#work/task.ts'
import type { ChildRow } from './child-handle.sql.ts'
import { childStatus } from './child.ts'
import type { MessageRow } from './control-message.sql.ts'
import { encodeSequence } from './cursor.ts'

/** Rows as the contract shows them. */
export function messageReply(row: MessageRow): ControlMessage {
  const { runVersion, checkpointSequence, actionSequence, createdAt, settledAt, ...rest } = row
  return {
    ...rest,
    causalPosition: { runVersion, checkpointSequence, actionSequence },
    createdAt: createdAt.toISOString(),
    settledAt: settledAt?.toISOString() ?? null,
    cursor: encodeSequence('rc', row.runId, row.sequence),
  }
}

export function childReply(row: ChildRow): ChildHandle {
  const { permissions, skills, maxDurationSeconds, maxActions, maxTokens, maxCost } = row
  return {
    id: row.id,
    runId: row.runId,
    sequence: row.sequence,
    correlationId: row.correlationId,
    title: row.title,
    taskId: row.taskId,
    taskPublicId: publicIdOf(row.taskNumber),
    grant: { permissions, skills, maxDurationSeconds, maxActions, maxTokens, maxCost },
    cancellationPolicy: row.cancellationPolicy,
    status: childStatus({ ...row, hasSucceeded: row.resultRunId !== null }),
    childRunId: row.newestRunId,
    result: resultOf(row),
    expiresAt: row.expiresAt.toISOString(),
    revokedAt: row.revokedAt?.toISOString() ?? null,
    revokeReason: row.revokeReason,
    createdBy: row.createdBy,
    createdAt: row.createdAt.toISOString(),
    cursor: encodeSequence('cd', row.runId, row.sequence),
  }
}

function resultOf({ resultRunId, resultOutput, resultAt }: ChildRow): ChildHandle['result'] {
  if (resultRunId === null || resultAt === null) return null
  return { runId: resultRunId, output: resultOutput, finishedAt: resultAt.toISOString() }
}
