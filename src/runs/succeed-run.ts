import { MAX_CHILD_RESULT_BYTES } from '#contract/child-run.ts'
import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { finishTask } from '#work/complete-task.ts'
import { lockTaskRow } from '#work/locked-task.sql.ts'
import { lockLiveRun, runNotActive } from './live-run.ts'
import { selectRun, updateRunEnded } from './run.sql.ts'
import type { RunRow } from './run.sql.ts'

/**
 * Ends a run with success under its live claim. With `completeTask` the task is completed and the claim
 * released in the same transaction; else the claim stays, and with it the task.
 *
 * Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`,
 * `task_already_completed`, `invalid_transition`.
 */
export async function succeedRun(
  sql: Sql,
  ctx: Ctx,
  input: {
    id: string
    fencingToken: number
    output?: Record<string, unknown> | undefined
    completeTask: boolean
  },
): Promise<RunRow> {
  const { id, output, completeTask } = input
  if (ctx.childGrant) requireSmall(output)
  const { run, claim } = await lockLiveRun(sql, ctx, input)
  const [version, task] = await Promise.all([
    updateRunEnded(sql, ctx, { id, status: 'succeeded', reason: null, output }),
    completeTask ? lockTaskRow(sql, ctx, run.taskId) : undefined,
  ])
  if (version === undefined) throw runNotActive(run)
  const { taskId, attempt, workspaceId } = run
  const succeeded: NewEvent = {
    type: 'run.succeeded',
    entityType: 'run',
    entityId: run.id,
    entityVersion: version,
    workspaceId,
    sessionId: claim.sessionId,
    payload: { taskId, attempt, taskCompleted: completeTask },
  }
  const [after] = await Promise.all([
    selectRun(sql, ctx, id),
    completeTask
      ? finishTask(sql, ctx, found(task, 'task', taskId), { claim, before: [succeeded] })
      : appendEvent(sql, ctx, succeeded),
  ])
  return found(after, 'run', id)
}

/** The output of a child run is what its parent gets as the result. */
function requireSmall(output: Record<string, unknown> | undefined): void {
  if (Buffer.byteLength(JSON.stringify(output ?? {})) <= MAX_CHILD_RESULT_BYTES) return
  const message = `must be at most ${MAX_CHILD_RESULT_BYTES} bytes of JSON for a child run`
  throw new AppError('invalid_request', `Cannot read the request: body.output ${message}`, {
    details: { errors: [{ loc: 'body.output', message }] },
  })
}
