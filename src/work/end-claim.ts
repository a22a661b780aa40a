import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import type { Author } from '#lib/ctx.ts'
import { categoryOf } from '#task-types/lifecycle.ts'
import { updateClaimEnded, updateRunOfClaimFailed } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { publicIdOf } from './task.ts'
import { lockTaskRow, updateTaskStatus } from './task.sql.ts'

export interface ClaimEnd {
  status: 'released' | 'expired'
  reason: string
  /** Whether the task goes back to where others can claim it; not when the caller moves it itself. */
  releaseTask: boolean
}

/** Reasons of runs that ended because their claim did; their owner may still report a failure. */
export const LEASE_REASONS: readonly string[] = [
  'lease_expired',
  'session_expired',
  'session_closed',
]

/**
 * Ends an active claim, and the run that was going on under it: without its claim it can never succeed.
 * The one way a claim ends, whether given back, taken over or reaped. The caller holds the task's lock
 * and appends the events, which are none when the claim had ended before.
 */
export async function endClaim(
  sql: Sql,
  author: Author,
  claim: ClaimRow,
  end: ClaimEnd,
): Promise<NewEvent[]> {
  const version = await updateClaimEnded(sql, author, { id: claim.id, ...end })
  if (version === undefined) return []
  return [
    claimEnded(claim, end, version),
    ...(await failRunningRun(sql, author, claim, end.reason)),
    ...(end.releaseTask ? await releaseTask(sql, author, claim.taskId) : []),
  ]
}

function claimEnded(claim: ClaimRow, end: ClaimEnd, entityVersion: number): NewEvent {
  const { taskId, fencingToken, workspaceId, sessionId } = claim
  const entity = { entityType: 'claim', entityId: claim.id, entityVersion, workspaceId, sessionId }
  return end.status === 'expired'
    ? { ...entity, type: 'claim.expired', payload: { taskId, fencingToken } }
    : {
        ...entity,
        type: 'claim.released',
        payload: { taskId, fencingToken, reason: end.reason },
      }
}

async function failRunningRun(
  sql: Sql,
  author: Author,
  claim: ClaimRow,
  reason: string,
): Promise<NewEvent[]> {
  const run = await updateRunOfClaimFailed(sql, author, { id: claim.id, reason })
  if (!run) return []
  return [
    {
      type: 'run.failed',
      entityType: 'run',
      entityId: run.id,
      entityVersion: run.version,
      workspaceId: claim.workspaceId,
      sessionId: claim.sessionId,
      payload: { taskId: run.taskId, attempt: run.attempt, reason },
    },
  ]
}

async function releaseTask(sql: Sql, author: Author, taskId: string): Promise<NewEvent[]> {
  const task = await lockTaskRow(sql, author, taskId)
  if (task?.statusCategory !== 'active') return []
  const { lifecycle } = task
  const status = lifecycle.releaseStatus
  const statusCategory = categoryOf(lifecycle, status)
  const version = await updateTaskStatus(sql, author, { id: taskId, status, statusCategory })
  return [
    {
      type: 'task.updated',
      entityType: 'task',
      entityId: taskId,
      entityVersion: version,
      workspaceId: task.workspaceId,
      payload: { publicId: publicIdOf(task.number), changes: ['status'], version },
    },
  ]
}
