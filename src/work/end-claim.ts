import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import type { Author } from '#lib/ctx.ts'
import { categoryOf } from '#task-types/lifecycle.ts'
import { updateClaimEnded, updateRunOfClaimFailed } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { lockTaskRow } from './locked-task.sql.ts'
import { publicIdOf } from './task.ts'
import { updateTaskStatus } from './task.sql.ts'

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
  const [version, failed] = await Promise.all([
    updateClaimEnded(sql, author, { id: claim.id, ...end }),
    failRunningRun(sql, author, claim, end.reason),
  ])
  if (version === undefined) return []
  const ended = claimEnded({ ...claim, version }, end)
  const released = end.releaseTask ? await releaseTask(sql, author, claim.taskId) : []
  return [ended, ...failed, ...released]
}

/** The event of a claim that has ended; `claim.version` is that of its end. */
export function claimEnded(claim: ClaimRow, end: Omit<ClaimEnd, 'releaseTask'>): NewEvent {
  const { taskId, fencingToken, workspaceId, sessionId, version: entityVersion } = claim
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
  // Whoever ends a claim frees its task, also where it cannot see it.
  const { tenantId } = author
  const task = await lockTaskRow(sql, { tenantId }, taskId)
  if (task?.statusCategory !== 'active') return []
  const { lifecycle } = task
  const status = lifecycle.releaseStatus
  const statusCategory = categoryOf(lifecycle, status)
  const { version } = await updateTaskStatus(sql, author, { id: taskId, status, statusCategory })
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
