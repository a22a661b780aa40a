import type { Hono } from 'hono'
import * as actions from '#contract/run-actions.ts'
import * as stops from '#contract/run-stops.ts'
import * as runs from '#contract/runs.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { selectTaskId } from '#work/task.sql.ts'
import { selectActions } from './action.sql.ts'
import { selectCheckpoints } from './checkpoint.sql.ts'
import { handOffRun } from './hand-off-run.ts'
import { finishAction, recordAction } from './record-action.ts'
import { recordCheckpoint } from './record-checkpoint.ts'
import { actionReply, checkpointReply, handoffReply, runReply } from './replies.ts'
import { requestCancel } from './request-cancel.ts'
import { selectRun, selectRuns } from './run.sql.ts'
import { startRun } from './start-run.ts'
import { failRun } from './stop-run.ts'
import { succeedRun } from './succeed-run.ts'
import { suspendRun } from './suspend-run.ts'

/** Runs with what they record: checkpoints and actions. */
export function runsRoutes(app: Hono, deps: Deps): void {
  bindRuns(app, deps)
  bindEnds(app, deps)
  bindCheckpoints(app, deps)
  bindActions(app, deps)
}

function bindRuns(app: Hono, deps: Deps): void {
  bind(app, deps, runs.startRun, async (sql, ctx, { params, body }) =>
    runReply(await startRun(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, runs.getRun, async (sql, ctx, { params: { id } }) =>
    runReply(found(await selectRun(sql, ctx, id), 'run', id)),
  )
  bind(app, deps, runs.listRuns, async (sql, ctx, { query }) => {
    const { taskId: ref, status } = query
    const taskId = ref && found(await selectTaskId(sql, ctx, ref), 'task', ref)
    const page = pageRequest(`runs?${JSON.stringify({ taskId, status })}`, query)
    return pageOf(page, await selectRuns(sql, ctx, { page, taskId, status }), runReply)
  })
}

function bindEnds(app: Hono, deps: Deps): void {
  bind(app, deps, runs.succeedRun, async (sql, ctx, { params, body }) =>
    runReply(await succeedRun(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, runs.failRun, async (sql, ctx, { params, body }) =>
    runReply(await failRun(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, stops.suspendRun, async (sql, ctx, { params, body }) =>
    runReply(await suspendRun(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, stops.handOffRun, async (sql, ctx, { params, body }) =>
    handoffReply(await handOffRun(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, stops.requestCancel, async (sql, ctx, { params, body }) =>
    runReply(await requestCancel(sql, ctx, { ...params, ...body })),
  )
}

function bindCheckpoints(app: Hono, deps: Deps): void {
  bind(app, deps, runs.recordCheckpoint, async (sql, ctx, { params, body }) =>
    checkpointReply(await recordCheckpoint(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, runs.listCheckpoints, async (sql, ctx, { params, query }) => {
    const { id: runId } = found(await selectRun(sql, ctx, params.id), 'run', params.id)
    const page = wholeOrPage(`checkpoints?run=${runId}`, query)
    const rows = await selectCheckpoints(sql, ctx, { runId, page })
    return page ? pageOf(page, rows, checkpointReply) : wholeOf(rows.map(checkpointReply))
  })
}

function bindActions(app: Hono, deps: Deps): void {
  bind(app, deps, actions.recordAction, async (sql, ctx, { params, body }) =>
    actionReply(await recordAction(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, actions.finishAction, async (sql, ctx, { params, body }) =>
    actionReply(await finishAction(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, actions.listActions, async (sql, ctx, { params, query }) => {
    const { id: runId } = found(await selectRun(sql, ctx, params.id), 'run', params.id)
    const { status } = query
    const page = wholeOrPage(`actions?${JSON.stringify({ runId, status })}`, query)
    const rows = await selectActions(sql, ctx, { runId, page, status })
    return page ? pageOf(page, rows, actionReply) : wholeOf(rows.map(actionReply))
  })
}

/** The page that was asked for; undefined for the whole listing. */
function wholeOrPage(
  listing: string,
  { limit, cursor }: { limit?: number | undefined; cursor?: string | undefined },
): PageRequest | undefined {
  if (limit === undefined && cursor === undefined) return undefined
  return pageRequest(listing, { limit: limit ?? 50, cursor })
}

function wholeOf<Item>(items: Item[]): { items: Item[]; nextCursor: null } {
  return { items, nextCursor: null }
}
