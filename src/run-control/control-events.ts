import type { ControlKind } from '#contract/control-messages.ts'
import type { NewEvent } from '#contract/events.ts'
import type { RunRow } from '#runs/run.sql.ts'
import type { SettledMessage } from './control-message.sql.ts'

/** What the journal says of a message; its text never stands there. */
export function messageAccepted(
  run: RunRow,
  message: { id: string; kind: ControlKind; sequence: number },
): NewEvent {
  const { id: messageId, kind, sequence } = message
  return {
    ...entity(run, messageId, 1),
    type: 'control_message.accepted',
    payload: { taskId: run.taskId, runId: run.id, kind, sequence },
  }
}

export function messageSettled(run: RunRow, message: SettledMessage): NewEvent {
  const { id: messageId, kind, sequence, status, safeBoundary } = message
  return {
    ...entity(run, messageId, 2),
    type: 'control_message.settled',
    payload: { taskId: run.taskId, runId: run.id, kind, sequence, status, safeBoundary },
  }
}

function entity(run: RunRow, entityId: string, entityVersion: number) {
  const { workspaceId, sessionId } = run
  return { entityType: 'control_message', entityId, entityVersion, workspaceId, sessionId }
}
