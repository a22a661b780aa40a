import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { requireVersion } from '#org/version.ts'
import { readWorkRules } from '#projects/read-governance.ts'
import { categoryOf, requireTransition } from '#task-types/lifecycle.ts'
import type { ClaimRow } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { requireFree } from './live-claim.ts'
import type { MaybeFence } from './live-claim.ts'
import { lockTask } from './lock-task.ts'
import { requireNoRun } from './release-claim.ts'
import { requireApproved, requireUngated } from './required-approval.ts'
import { publicIdOf } from './task.ts'
import { selectTask, updateTaskEvidence, updateTaskStatus } from './task.sql.ts'
import type { LockedTask, TaskRow } from './task.sql.ts'

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
  const claim = await requireFree(sql, ctx, { taskId: task.id, ...fence })
  requireVersion('task', task, expectedVersion)
  if (claim?.isLive) await requireNoRun(sql, ctx, claim)
  if (evidence) await updateTaskEvidence(sql, ctx, { id: task.id, evidence })
  await appendEvents(sql, ctx, await finishTask(sql, ctx, task, claim))
  return found(await selectTask(sql, ctx, task.id), 'task', ref)
}

/**
 * Moves a locked task into success and ends its claim; the caller appends the events. Throws
 * `task_already_completed`, `invalid_transition`, `approval_required`.
 */
export async function finishTask(
  sql: Sql,
  ctx: Ctx,
  task: LockedTask,
  claim: ClaimRow | undefined,
): Promise<NewEvent[]> {
  requireUncompleted(task)
  const { lifecycle } = task
  const status = lifecycle.completionStatus
  requireTransition(task, status, 'complete')
  const rules = await readWorkRules(sql, ctx, task.workspaceId)
  if (task.isGated) await requireUngated(sql, ctx, task.id)
  await requireApproved(sql, ctx, task.id, { rules, before: 'completion' })
  const ended = claim
    ? await endClaim(
        sql,
        ctx,
        claim,
        claim.isLive
          ? { status: 'released', reason: 'task_completed', releaseTask: false }
          : { status: 'expired', reason: 'lease_expired', releaseTask: false },
      )
    : []
  const statusCategory = categoryOf(lifecycle, status)
  const version = await updateTaskStatus(sql, ctx, { id: task.id, status, statusCategory })
  return [
    ...ended,
    {
      type: 'task.completed',
      entityType: 'task',
      entityId: task.id,
      entityVersion: version,
      workspaceId: task.workspaceId,
      payload: { publicId: publicIdOf(task.number), version },
    },
  ]
}

function requireUncompleted(task: TaskRow): void {
  if (task.statusCategory !== 'terminal_success') return
  throw new AppError('task_already_completed', `Cannot complete task "${task.id}": it is completed`)
}
