import type { NewEvent } from '#contract/events.ts'
import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { categoryOf } from '#task-types/lifecycle.ts'
import { handleOf, requireOwnChild } from './child-task.ts'
import { insertClaim } from './claim-writes.sql.ts'
import type { ClaimRow, NewClaim } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { lockTaskAnd } from './lock-task.ts'
import type { LockedTask } from './locked-task.sql.ts'
import { requireLiveSession } from './live-session.ts'
import { refuseObstacles } from './obstacles.ts'
import { selectSession } from './session.sql.ts'
import { nextVersion, publicIdOf } from './task.ts'

/**
 * Gives the caller the only right to work on a task, for `ttlSeconds`.
 *
 * The claim is a lease by the database clock: once it, or its session, ends, anyone may claim the task
 * again. Every claim gets a larger fencing token, so a worker that wakes up late is refused when it
 * writes. Two callers at once are ordered by the locks of session and task, taken before anything else;
 * the index one_active_claim_per_task would refuse the second even without them.
 *
 * Throws `not_found`, `session_owner_mismatch`, `session_expired`, `session_not_active`,
 * `task_already_claimed`, `task_not_claimable`, `task_not_ready`, `approval_required`, `not_eligible`,
 * `child_grant_exceeded`.
 */
export async function claimTask(
  sql: Sql,
  ctx: Ctx,
  input: { ref: string; sessionId: string; ttlSeconds: number; intent?: string | undefined },
): Promise<ClaimRow> {
  const { ref, ttlSeconds, intent = null } = input
  const others = [{ type: 'session', id: input.sessionId }]
  const { task, rest } = await lockTaskAnd(sql, ctx, { ref, others }, () =>
    selectSession(sql, ctx, input.sessionId),
  )
  const session = found(rest, 'session', input.sessionId)
  await requireLiveSession(sql, ctx, session)
  requireOwnChild(ctx, task)
  await refuseObstacles(sql, ctx, task, task.claim)

  const ended = task.claim ? await endClaim(sql, ctx, task.claim, TAKEN_OVER) : []
  const { lifecycle } = task
  const status = lifecycle.claimStatus ?? task.status
  const claim = {
    id: newId(),
    taskId: task.id,
    sessionId: session.id,
    fencingToken: task.lastFencingToken + 1,
    ttlSeconds,
    intent,
  }
  const dates = await insertClaim(sql, ctx, claim, {
    move: {
      id: task.id,
      status,
      statusCategory: categoryOf(lifecycle, status),
      fencingToken: claim.fencingToken,
    },
    events: [...ended, claimed(ctx, task, claim)],
  }).catch((cause: unknown) => {
    if (!isPgError(cause, PG.uniqueViolation, 'one_active_claim_per_task')) throw cause
    throw new AppError('task_already_claimed', `Cannot claim task "${task.id}": it is claimed`)
  })
  return newClaimRow(ctx, task, { ...claim, ...dates })
}

const TAKEN_OVER = { status: 'expired', reason: 'lease_expired', releaseTask: false } as const

function claimed(ctx: Ctx, task: LockedTask, claim: NewClaim): NewEvent {
  const { id: claimId, sessionId, fencingToken, intent } = claim
  const publicId = publicIdOf(task.number)
  return {
    type: 'task.claimed',
    entityType: 'task',
    entityId: task.id,
    entityVersion: nextVersion(task),
    workspaceId: task.workspaceId,
    sessionId,
    payload: { publicId, claimId, sessionId, holderId: ctx.actorId, fencingToken, intent },
  }
}

/** What a query would answer for a claim that has just been made. */
function newClaimRow(
  ctx: Ctx,
  task: LockedTask,
  claim: NewClaim & Pick<ClaimRow, 'expiresAt' | 'createdAt'>,
): ClaimRow {
  return {
    ...claim,
    taskNumber: task.number,
    workspaceId: task.workspaceId,
    principalId: ctx.actorId,
    lastFencingToken: claim.fencingToken,
    status: 'active',
    isLive: true,
    remainingSeconds: claim.ttlSeconds,
    handleId: handleOf(task),
    endReason: null,
    endedAt: null,
    version: 1,
  }
}
