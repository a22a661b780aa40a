import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { categoryOf } from '#task-types/lifecycle.ts'
import { requireOwnChild } from './child-task.ts'
import { insertClaim, selectActiveClaim, selectClaim } from './claim.sql.ts'
import type { ClaimRow } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { lockTask } from './lock-task.ts'
import { requireLiveSession } from './live-session.ts'
import { refuseObstacles } from './obstacles.ts'
import { publicIdOf } from './task.ts'
import { updateTaskStatus } from './task.sql.ts'

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
  const task = await lockTask(sql, ctx, ref, [{ type: 'session', id: input.sessionId }])
  const { id: sessionId } = await requireLiveSession(sql, ctx, input.sessionId)
  requireOwnChild(ctx, task)
  const previous = await selectActiveClaim(sql, ctx, task.id)
  await refuseObstacles(sql, ctx, task, previous)

  const ended = previous
    ? await endClaim(sql, ctx, previous, {
        status: 'expired',
        reason: 'lease_expired',
        releaseTask: false,
      })
    : []
  const id = newId()
  const fencingToken = task.lastFencingToken + 1
  await insertClaim(sql, ctx, {
    id,
    taskId: task.id,
    sessionId,
    fencingToken,
    ttlSeconds,
    intent,
  }).catch((cause: unknown) => {
    if (!isPgError(cause, PG.uniqueViolation, 'one_active_claim_per_task')) throw cause
    throw new AppError('task_already_claimed', `Cannot claim task "${task.id}": it is claimed`)
  })
  const { lifecycle } = task
  const status = lifecycle.claimStatus ?? task.status
  const entityVersion = await updateTaskStatus(sql, ctx, {
    id: task.id,
    status,
    statusCategory: categoryOf(lifecycle, status),
    fencingToken,
  })
  const publicId = publicIdOf(task.number)
  await appendEvents(sql, ctx, [
    ...ended,
    {
      type: 'task.claimed',
      entityType: 'task',
      entityId: task.id,
      entityVersion,
      workspaceId: task.workspaceId,
      sessionId,
      payload: { publicId, claimId: id, sessionId, holderId: ctx.actorId, fencingToken, intent },
    },
  ])
  return found(await selectClaim(sql, ctx, id), 'claim', id)
}
