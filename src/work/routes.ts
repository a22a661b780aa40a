import type { Hono } from 'hono'
import * as artifacts from '#contract/artifacts.ts'
import * as claims from '#contract/claims.ts'
import * as runs from '#contract/runs.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { selectArtifact, selectArtifacts } from './artifact.sql.ts'
import { claimTask } from './claim-task.ts'
import { claimability } from './claimability.ts'
import { selectClaim } from './claim.sql.ts'
import { completeTask } from './complete-task.ts'
import { createArtifact } from './create-artifact.ts'
import { createTask } from './create-task.ts'
import { closeSession } from './end-session.ts'
import { heartbeatClaim } from './heartbeat-claim.ts'
import { heartbeatSession } from './heartbeat-session.ts'
import { DEFAULT_LEASES, renewalWithin, ttlWithin } from './lease.ts'
import type { Leases } from './lease.ts'
import { readSession } from './live-session.ts'
import { openSession } from './open-session.ts'
import { readContent } from './read-content.ts'
import { reclaimClaim } from './reclaim-claim.ts'
import { recordCheckpoint } from './record-checkpoint.ts'
import { releaseClaim } from './release-claim.ts'
import {
  artifactReply,
  checkpointReply,
  claimReply,
  runReply,
  sessionReply,
  taskReply,
} from './replies.ts'
import { selectCheckpoints, selectRun, selectRuns } from './run.sql.ts'
import { selectSessions } from './session.sql.ts'
import { startRun } from './start-run.ts'
import { cancelRun, failRun } from './stop-run.ts'
import { succeedRun } from './succeed-run.ts'
import { workspacesOf } from './task-fields.ts'
import { selectAvailableTasks, selectTasks } from './task-list.sql.ts'
import { selectTask, selectTaskId } from './task.sql.ts'
import { updateTask } from './update-task.ts'

/** Sessions, tasks, claims, runs and artifacts. */
export function workRoutes(app: Hono, deps: Deps, leases: Leases = DEFAULT_LEASES): void {
  bindSessions(app, deps, leases)
  bindTasks(app, deps)
  bindTaskListings(app, deps)
  bindClaims(app, deps, leases)
  bindRuns(app, deps)
  bindCheckpoints(app, deps)
  bindArtifacts(app, deps)
}

function bindSessions(app: Hono, deps: Deps, leases: Leases): void {
  bind(app, deps, sessions.openSession, async (sql, ctx, { body }) => {
    const ttlSeconds = ttlWithin(leases.session, body.ttlSeconds)
    return sessionReply(await openSession(sql, ctx, { ...body, ttlSeconds }))
  })
  bind(app, deps, sessions.listSessions, async (sql, ctx, { query }) => {
    const { status } = query
    const page = pageRequest(`sessions?status=${status ?? ''}`, query)
    return pageOf(page, await selectSessions(sql, ctx, { page, status }), sessionReply)
  })
  bind(app, deps, sessions.getSession, async (sql, ctx, { params }) =>
    sessionReply(await readSession(sql, ctx, params.id)),
  )
  bind(app, deps, sessions.heartbeatSession, async (sql, ctx, { params, body }) => {
    const ttlSeconds = renewalWithin(leases.session, body.ttlSeconds)
    return sessionReply(await heartbeatSession(sql, ctx, { ...params, ttlSeconds }))
  })
  bind(app, deps, sessions.closeSession, async (sql, ctx, { params }) =>
    sessionReply(await closeSession(sql, ctx, params.id)),
  )
}

function bindTasks(app: Hono, deps: Deps): void {
  bind(app, deps, tasks.createTask, async (sql, ctx, { body }) =>
    taskReply(await createTask(sql, ctx, body)),
  )
  bind(app, deps, tasks.getTask, async (sql, ctx, { params: { ref } }) =>
    taskReply(found(await selectTask(sql, ctx, ref), 'task', ref)),
  )
  bind(app, deps, tasks.updateTask, async (sql, ctx, { params, body, expectedVersion }) =>
    taskReply(await updateTask(sql, ctx, { ...params, ...body, expectedVersion })),
  )
  bind(app, deps, tasks.completeTask, async (sql, ctx, { params, body, expectedVersion }) =>
    taskReply(await completeTask(sql, ctx, { ...params, ...body, expectedVersion })),
  )
  bind(app, deps, tasks.getClaimability, async (sql, ctx, { params }) =>
    claimability(sql, ctx, params.ref),
  )
}

function bindTaskListings(app: Hono, deps: Deps): void {
  bind(app, deps, tasks.listTasks, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const page = pageRequest(`tasks?${JSON.stringify(narrowing)}`, query)
    const { status, assigneeId } = query
    const workspaceIds = await workspacesOf(sql, ctx, query)
    const rows = await selectTasks(sql, ctx, { page, status, assigneeId, workspaceIds })
    return pageOf(page, rows, taskReply)
  })
  bind(app, deps, tasks.listAvailableWork, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const page = pageRequest(`work?${JSON.stringify(narrowing)}`, query)
    const assigneeId = query.assignedToMe ? ctx.actorId : query.assigneeId
    const workspaceIds = await workspacesOf(sql, ctx, query)
    const rows = await selectAvailableTasks(sql, ctx, { page, assigneeId, workspaceIds })
    return pageOf(page, rows, taskReply)
  })
}

function bindClaims(app: Hono, deps: Deps, leases: Leases): void {
  bind(app, deps, claims.claimTask, async (sql, ctx, { params, body }) => {
    const ttlSeconds = ttlWithin(leases.claim, body.ttlSeconds)
    return claimReply(await claimTask(sql, ctx, { ...params, ...body, ttlSeconds }))
  })
  bind(app, deps, claims.getClaim, async (sql, ctx, { params: { id } }) =>
    claimReply(found(await selectClaim(sql, ctx, id), 'claim', id)),
  )
  bind(app, deps, claims.heartbeatClaim, async (sql, ctx, { params, body }) => {
    const ttlSeconds = renewalWithin(leases.claim, body.ttlSeconds)
    return claimReply(await heartbeatClaim(sql, ctx, { ...params, ...body, ttlSeconds }))
  })
  bind(app, deps, claims.releaseClaim, async (sql, ctx, { params, body }) =>
    claimReply(await releaseClaim(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, claims.reclaimClaim, async (sql, ctx, { params }) =>
    claimReply(await reclaimClaim(sql, ctx, params.id)),
  )
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

function bindArtifacts(app: Hono, deps: Deps): void {
  bind(app, deps, artifacts.createArtifact, async (sql, ctx, { body }) =>
    artifactReply(await createArtifact(sql, ctx, body)),
  )
  bind(app, deps, artifacts.listArtifacts, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, taskId: ref, ...narrowing } = query
    const taskId = ref && found(await selectTaskId(sql, ctx, ref), 'task', ref)
    if (query.runId) found(await selectRun(sql, ctx, query.runId), 'run', query.runId)
    await workspacesOf(sql, ctx, query)
    const filter = { ...narrowing, taskId }
    const page = pageRequest(`artifacts?${JSON.stringify(filter)}`, query)
    return pageOf(page, await selectArtifacts(sql, ctx, { ...filter, page }), artifactReply)
  })
  bind(app, deps, artifacts.getArtifact, async (sql, ctx, { params: { id } }) =>
    artifactReply(found(await selectArtifact(sql, ctx, id), 'artifact', id)),
  )
  bind(app, deps, artifacts.getArtifactContent, async (sql, ctx, { params }) =>
    readContent(sql, ctx, params.id),
  )
}
