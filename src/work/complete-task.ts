import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { requireVersion } from '#org/version.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import { categoryOf, requireTransition } from '#task-types/lifecycle.ts'
import type { ClaimRow } from './claim.sql.ts'
import { updateClaimFinished } from './claim-writes.sql.ts'
import { claimEnded, endClaim } from './end-claim.ts'
import { requireFree } from './live-claim.ts'
import type { MaybeFence } from './live-claim.ts'
import { lockTask } from './lock-task.ts'
import { withoutLock } from './locked-task.sql.ts'
import type { LockedTask } from './locked-task.sql.ts'
import { requireNoRun } from './release-claim.ts'
import { requireApproved, requireUngated } from './required-approval.ts'
import { nextVersion, publicIdOf } from './task.ts'
import { updateTaskEvidence, updateTaskStatus } from './task.sql.ts'
import type { TaskRow } from './task.sql.ts'

/**
 * Completes a task and releases its claim; a claimed task only under the claim.
 *
 * Throws `not_found`, `task_already_completed`, `stale_claim`, `claim_holder_mismatch`,
 * `task_claimed`, `version_conflict`, `run_in_progress`, `invalid_transition`, `approval_required`.
 */
export async function completeTask(
  sql: Sql,
  ctx: Ctx,
  input: MaybeFence & {
    ref: string
    expectedVersion: number
    evidence?: unknown[] | undefined
  },
): Promise<TaskRow> {
  const { ref, expectedVersion, evidence, ...fence } = input
  const task = await lockTask(sql, ctx, ref)
  requireUncompleted(task)
  const claim = await requireFree(sql, ctx, { taskId: task.id, ...fence, locked: task })
  requireVersion('task', task, expectedVersion)
  if (claim?.isLive) requireNoRun(claim, task.runningRunId)
  if (evidence) await updateTaskEvidence(sql, ctx, { id: task.id, evidence })
  const completed = await finishTask(sql, ctx, task, { claim })
  return { ...completed, evidence: evidence ?? task.evidence }
}

/**
 * Moves a locked task into success and ends its claim. `before` are events that come before those of this.
 * Throws `task_already_completed`, `invalid_transition`, `approval_required`.
 */
export async function finishTask(
  sql: Sql,
  ctx: Ctx,
  task: LockedTask,
  { claim, before = [] }: { claim: ClaimRow | undefined; before?: readonly NewEvent[] },
): Promise<TaskRow> {
  requireUncompleted(task)
  const { lifecycle } = task
  const status = lifecycle.completionStatus
  requireTransition(task, status, 'complete')
  const rules = await readWorkRules(sql, ctx, task.workspaceId)
  if (task.isGated) await requireUngated(sql, ctx, task.id)
  await requireApproved(sql, ctx, task.id, { rules, before: 'completion' })
  const statusCategory = categoryOf(lifecycle, status)
  const move = { id: task.id, status, statusCategory }
  const done = taskCompleted(task)
  const after = { ...withoutLock(task), status, statusCategory, activeClaimId: null }
  if (claim?.isLive && task.runningRunId === null) {
    const ended = claimEnded({ ...claim, version: nextVersion(claim) }, COMPLETED)
    const events = [...before, ended, done]
    const { id } = claim
    const { reason } = COMPLETED
    return { ...after, ...(await updateClaimFinished(sql, ctx, { id, reason }, { move, events })) }
  }
  const ended = claim ? await endClaim(sql, ctx, claim, claim.isLive ? COMPLETED : EXPIRED) : []
  const moved = await updateTaskStatus(sql, ctx, move)
  await appendEvents(sql, ctx, [...before, ...ended, done])
  return { ...after, ...moved }
}

const COMPLETED = { status: 'released', reason: 'task_completed', releaseTask: false } as const
const EXPIRED = { status: 'expired', reason: 'lease_expired', releaseTask: false } as const

function taskCompleted(task: TaskRow): NewEvent {
  const version = nextVersion(task)
  return {
    type: 'task.completed',
    entityType: 'task',
    entityId: task.id,
    entityVersion: version,
    workspaceId: task.workspaceId,
    payload: { publicId: publicIdOf(task.number), version },
  }
}

function requireUncompleted(task: TaskRow): void {
  if (task.statusCategory !== 'terminal_success') return
  throw new AppError('task_already_completed', `Cannot complete task "${task.id}": it is completed`)
}
