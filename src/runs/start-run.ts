import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { selectTaskType } from '#task-types/task-type.sql.ts'
import { requireLiveClaim } from '#work/live-claim.ts'
import type { Fence } from '#work/live-claim.ts'
import { lockTask } from '#work/lock-task.ts'
import { instructionsUnder, refsOf } from './instructions.ts'
import { admitRun } from './run-rules.ts'
import type { AskedLimits } from './run-rules.ts'
import { insertRun, selectRun } from './run.sql.ts'
import type { RunRow } from './run.sql.ts'

export interface NewRun extends Fence, AskedLimits {
  ref: string
  input?: Record<string, unknown> | undefined
  model?: string | undefined
}

/**
 * Starts the next attempt at a claimed task, within the rules of its project, and reserves its budget.
 *
 * Throws `not_found`, `stale_claim`, `claim_holder_mismatch`, `child_grant_exceeded`,
 * `approval_required`, `budget_exceeded`, and `run_already_active` when one is going on under the claim.
 */
export async function startRun(sql: Sql, ctx: Ctx, input: NewRun): Promise<RunRow> {
  const task = await lockTask(sql, ctx, input.ref)
  const claim = await requireLiveClaim(sql, ctx, { ...input, taskId: task.id, locked: task })
  const { typeKey: key, typeVersion } = task
  const [{ rules, limits, ancestorIds }, type] = await Promise.all([
    admitRun(sql, ctx, task, input),
    selectTaskType(sql, ctx, { key, version: typeVersion }),
  ])
  const instructions = instructionsUnder(task, type, rules)
  const id = newId()
  const attempt = await insertRun(sql, ctx, {
    id,
    taskId: task.id,
    claimId: claim.id,
    sessionId: claim.sessionId,
    fencingToken: claim.fencingToken,
    input: input.input ?? null,
    model: input.model ?? null,
    ...limits,
    ancestorIds,
    instructionsHash: instructions.hash,
    instructionsRefs: refsOf(instructions),
  }).catch((cause: unknown) => {
    if (!isPgError(cause, PG.uniqueViolation, 'one_running_run_per_claim')) throw cause
    throw new AppError(
      'run_already_active',
      `Cannot start a run of task "${task.id}": one is going on`,
    )
  })
  const [run] = await Promise.all([
    selectRun(sql, ctx, id),
    appendEvent(sql, ctx, {
      type: 'run.started',
      entityType: 'run',
      entityId: id,
      entityVersion: 1,
      workspaceId: task.workspaceId,
      sessionId: claim.sessionId,
      payload: { taskId: task.id, claimId: claim.id, attempt },
    }),
  ])
  return found(run, 'run', id)
}
