import type { RunAction } from '#contract/run-actions.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { insertAction, selectAction, updateActionFinished } from './action.sql.ts'
import type { ActionRow } from './action.sql.ts'
import { requireBudget } from './budget.ts'
import { lockLiveRun, runNotActive } from './live-run.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'

/**
 * Records what a run is about to do (`started`) or has done, under its live claim. Not an event.
 *
 * Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`, `budget_exceeded`,
 * `secret_refused`.
 */
export async function recordAction(
  sql: Sql,
  ctx: Ctx,
  input: {
    id: string
    fencingToken: number
    action: string
    status: RunAction['status']
    skill?: string | undefined
    externalReference?: string | undefined
    metadata: Record<string, unknown>
  },
): Promise<ActionRow> {
  const { fencingToken, action, status, skill = null, externalReference = null, metadata } = input
  refuseSecretsIn({ externalReference, metadata })
  const { run } = await lockLiveRun(sql, ctx, input)
  requireBudget(run, 'action')
  const row = { id: newId(), runId: run.id, action, status, skill, externalReference, metadata }
  const recorded = await insertAction(sql, ctx, { ...row, fencingToken })
  if (!recorded) throw runNotActive(run)
  return recorded
}

/**
 * Records how a started action ended, under the live claim of its run; budgets are not asked.
 *
 * Throws `not_found`, `run_not_active`, `stale_claim`, `claim_holder_mismatch`,
 * `action_already_finished`, `secret_refused`.
 */
export async function finishAction(
  sql: Sql,
  ctx: Ctx,
  input: {
    id: string
    actionId: string
    fencingToken: number
    status: Exclude<RunAction['status'], 'started'>
    externalReference?: string | undefined
    metadata: Record<string, unknown>
  },
): Promise<ActionRow> {
  const { id: runId, actionId, status, externalReference = null, metadata } = input
  refuseSecretsIn({ externalReference, metadata })
  await lockLiveRun(sql, ctx, input)
  const before = await selectAction(sql, ctx, { id: actionId, runId })
  const { id, ...action } = found(before, 'action', actionId)
  const row = { id, status, externalReference, metadata }
  const finished = await updateActionFinished(sql, ctx, row)
  if (finished) return finished
  throw new AppError(
    'action_already_finished',
    `Cannot finish action "${actionId}": it is ${action.status}`,
    { details: { actionStatus: action.status, finishedAt: action.finishedAt?.toISOString() } },
  )
}
