import type { NewComment } from '#contract/comments.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { badField } from '#lib/bad-field.ts'
import { found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { lockLiveRun } from '#runs/live-run.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { requireLiveClaim } from '#work/live-claim.ts'
import { lockTask } from '#work/lock-task.ts'
import { selectTaskId } from '#work/task.sql.ts'
import { insertComment, selectComment } from './comment.sql.ts'
import type { CommentRow } from './comment.sql.ts'

/**
 * Comments on a task. Anyone may, also while somebody else holds the task; who speaks as a run or under a
 * claim must hold it. The journal learns that there is a comment, not what it says.
 *
 * Throws `not_found`, `stale_claim`, `claim_holder_mismatch`, `run_not_active`, `invalid_request`.
 */
export async function createComment(
  sql: Sql,
  ctx: Ctx,
  input: NewComment & { ref: string },
): Promise<CommentRow> {
  const { ref, body, runId = null } = input
  const taskId = found(await selectTaskId(sql, ctx, ref), 'task', ref)
  const id = newId()
  const claim = await lockSpeaker(sql, ctx, { ...input, taskId, id })
  await insertComment(sql, ctx, {
    id,
    taskId,
    body,
    runId,
    claimId: claim?.id ?? null,
    fencingToken: claim?.fencingToken ?? null,
  })
  const comment = found(await selectComment(sql, ctx, id), 'comment', id)
  await appendEvent(sql, ctx, {
    type: 'comment.created',
    entityType: 'comment',
    entityId: id,
    entityVersion: comment.version,
    workspaceId: comment.workspaceId,
    sessionId: claim?.sessionId ?? null,
    payload: { taskId, runId },
  })
  return comment
}

/** Locks what the comment needs and answers the claim under which it is made, if any. */
async function lockSpeaker(
  sql: Sql,
  ctx: Ctx,
  input: NewComment & { taskId: string; id: string },
): Promise<ClaimRow | undefined> {
  const { taskId, runId, claimId, fencingToken } = input
  if (fencingToken === undefined) {
    await lockEntities(sql, ctx, [{ type: 'comment', id: input.id }])
    return undefined
  }
  if (runId !== undefined) {
    const { run, claim } = await lockLiveRun(sql, ctx, { id: runId, fencingToken })
    if (run.taskId !== taskId) throw badField('runId', 'must be a run of the task')
    if (claimId !== undefined && claimId !== claim.id) {
      throw badField('claimId', "must be the run's claim")
    }
    return claim
  }
  await lockTask(sql, ctx, taskId)
  if (claimId === undefined) throw badField('claimId', 'is needed with fencingToken')
  return await requireLiveClaim(sql, ctx, { taskId, claimId, fencingToken })
}
