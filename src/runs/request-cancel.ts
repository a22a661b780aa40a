import type { NewEvent } from '#contract/events.ts'
import type { SpendingBudget } from '#contract/runs.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { lockRun, runNotActive } from './live-run.ts'
import { selectRun, updateRunCancelRequested } from './run.sql.ts'
import type { RunRow } from './run.sql.ts'

/**
 * Asks the holder of a run to stop it. The run goes on until the holder does; a second request changes
 * nothing. Throws `not_found`, `run_not_active`.
 */
export async function requestCancel(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; reason?: string | undefined },
): Promise<RunRow> {
  const run = await lockRun(sql, ctx, input.id)
  if (run.status !== 'running') throw runNotActive(run)
  const { reason = null } = input
  const events = await markCancelRequested(sql, ctx, run, { reason })
  if (events.length > 0) await appendEvents(sql, ctx, events)
  return found(await selectRun(sql, ctx, run.id), 'run', run.id)
}

/**
 * Marks a locked run as wanted to stop, if nobody did; the caller appends the events. The reason of a person
 * stays with the run; a budget that is used up is journaled.
 */
export async function markCancelRequested(
  sql: Sql,
  ctx: Ctx,
  run: RunRow,
  why: { reason: string | null } | { budget: SpendingBudget },
): Promise<NewEvent[]> {
  const reason = 'budget' in why ? 'budget_exceeded' : why.reason
  const version = await updateRunCancelRequested(sql, ctx, { id: run.id, reason })
  if (version === undefined) return []
  return [
    {
      type: 'run.cancel_requested',
      entityType: 'run',
      entityId: run.id,
      entityVersion: version,
      workspaceId: run.workspaceId,
      sessionId: run.sessionId,
      payload: {
        taskId: run.taskId,
        attempt: run.attempt,
        ...('budget' in why && { budget: why.budget }),
      },
    },
  ]
}
