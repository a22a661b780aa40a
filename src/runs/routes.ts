import type { Hono } from 'hono'
import * as runs from '#contract/runs.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { selectTaskId } from '#work/task.sql.ts'
import { recordCheckpoint } from './record-checkpoint.ts'
import { checkpointReply, runReply } from './replies.ts'
import { selectCheckpoints, selectRun, selectRuns } from './run.sql.ts'
import { startRun } from './start-run.ts'
import { cancelRun, failRun } from './stop-run.ts'
import { succeedRun } from './succeed-run.ts'

/** Runs and their checkpoints. */
export function runsRoutes(app: Hono, deps: Deps): void {
  bindRuns(app, deps)
  bindCheckpoints(app, deps)
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
  bind(app, deps, runs.succeedRun, async (sql, ctx, { params, body }) =>
    runReply(await succeedRun(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, runs.failRun, async (sql, ctx, { params, body }) =>
    runReply(await failRun(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, runs.cancelRun, async (sql, ctx, { params, body }) =>
    runReply(await cancelRun(sql, ctx, { ...params, ...body })),
  )
}

function bindCheckpoints(app: Hono, deps: Deps): void {
  bind(app, deps, runs.recordCheckpoint, async (sql, ctx, { params, body }) =>
    checkpointReply(await recordCheckpoint(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, runs.listCheckpoints, async (sql, ctx, { params, query }) => {
    const { id: runId } = found(await selectRun(sql, ctx, params.id), 'run', params.id)
    const { limit, cursor } = query
    if (limit === undefined && cursor === undefined) {
      const rows = await selectCheckpoints(sql, ctx, { runId, page: undefined })
      return { items: rows.map(checkpointReply), nextCursor: null }
    }
    const page = pageRequest(`checkpoints?run=${runId}`, { limit: limit ?? 50, cursor })
    return pageOf(page, await selectCheckpoints(sql, ctx, { runId, page }), checkpointReply)
  })
}
