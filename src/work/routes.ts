import type { Hono } from 'hono'
import * as claims from '#contract/claims.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import * as transitions from '#contract/transitions.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { selectGoal } from '#goals/goal.sql.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { createSchemaCache } from '#lib/json-schema.ts'
import { claimTask } from './claim-task.ts'
import { claimability } from './claimability.ts'
import { selectClaim } from './claim.sql.ts'
import { completeTask } from './complete-task.ts'
import { createTask } from './create-task.ts'
import { closeSession } from './end-session.ts'
import { heartbeatClaim } from './heartbeat-claim.ts'
import { heartbeatSession } from './heartbeat-session.ts'
import { DEFAULT_LEASES, renewalWithin, ttlWithin } from './lease.ts'
import type { Leases } from './lease.ts'
import { readSession } from './live-session.ts'
import { listTransitions } from './list-transitions.ts'
import { eligibleOnly } from './obstacles.ts'
import { permittedOnly } from './project-rules.ts'
import { openSession } from './open-session.ts'
import { placesOf } from './places-of.ts'
import { reclaimClaim } from './reclaim-claim.ts'
import { releaseClaim } from './release-claim.ts'
import { claimReply, sessionReply, taskReply } from './replies.ts'
import { selectSessions } from './session.sql.ts'
import { selectAvailableTasks, selectTasks } from './task-list.sql.ts'
import { selectTask } from './task.sql.ts'
import { updateTask } from './update-task.ts'

/** Sessions, tasks and claims. */
export function workRoutes(app: Hono, deps: Deps, leases: Leases = DEFAULT_LEASES): void {
  bindSessions(app, deps, leases)
  bindTasks(app, deps)
  bindTaskListings(app, deps)
  bindClaims(app, deps, leases)
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

/** How many different schemas of custom fields are kept ready. */
const MAX_SCHEMAS = 200

function bindTasks(app: Hono, deps: Deps): void {
  const compile = createSchemaCache(MAX_SCHEMAS)
  bind(app, deps, tasks.createTask, async (sql, ctx, { body }) =>
    taskReply(await createTask(sql, ctx, body, compile)),
  )
  bind(app, deps, tasks.getTask, async (sql, ctx, { params: { ref } }) =>
    taskReply(found(await selectTask(sql, ctx, ref), 'task', ref)),
  )
  bind(app, deps, tasks.updateTask, async (sql, ctx, { params, body, expectedVersion }) =>
    taskReply(await updateTask(sql, ctx, { ...params, ...body, expectedVersion }, compile)),
  )
  bind(app, deps, tasks.completeTask, async (sql, ctx, { params, body, expectedVersion }) =>
    taskReply(await completeTask(sql, ctx, { ...params, ...body, expectedVersion })),
  )
  bind(app, deps, transitions.listTransitions, async (sql, ctx, { params }) =>
    listTransitions(sql, ctx, params.ref),
  )
  bind(app, deps, tasks.getClaimability, async (sql, ctx, { params }) =>
    claimability(sql, ctx, params.ref),
  )
}

function bindTaskListings(app: Hono, deps: Deps): void {
  bind(app, deps, tasks.listTasks, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const page = pageRequest(`tasks?${JSON.stringify(narrowing)}`, query)
    const { status, assigneeId, goalId } = query
    if (goalId !== undefined) found(await selectGoal(sql, ctx, goalId), 'goal', goalId)
    const workspaceIds = await placesOf(sql, ctx, query)
    const rows = await selectTasks(sql, ctx, { page, status, assigneeId, goalId, workspaceIds })
    return pageOf(page, rows, taskReply)
  })
  bind(app, deps, tasks.listAvailableWork, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const page = pageRequest(`work?${JSON.stringify(narrowing)}`, query)
    const assigneeId = query.assignedToMe ? ctx.actorId : query.assigneeId
    const workspaceIds = await placesOf(sql, ctx, query)
    const rows = await selectAvailableTasks(sql, ctx, { page, assigneeId, workspaceIds })
    const { items, nextCursor } = pageOf(page, rows, (row) => row)
    const permitted = await permittedOnly(sql, ctx, items)
    return { items: (await eligibleOnly(sql, ctx, permitted)).map(taskReply), nextCursor }
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
