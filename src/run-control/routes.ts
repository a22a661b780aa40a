import type { Hono } from 'hono'
import * as children from '#contract/child-handles.ts'
import { CHILD_HANDLE_HEADER } from '#contract/child-run.ts'
import * as messages from '#contract/control-messages.ts'
import * as runs from '#contract/runs.ts'
import type { Database } from '#db/sql.ts'
import { bind, withStatus } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import type { Api } from '#http/serve.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { runReply } from '#runs/replies.ts'
import { selectRun } from '#runs/run.sql.ts'
import { acknowledgeControlMessage } from './acknowledge-control-message.ts'
import { selectChild, selectChildren } from './child-handle.sql.ts'
import { selectMessages } from './control-message.sql.ts'
import { createChildHandle } from './create-child-handle.ts'
import { decodeSequence, encodeSequence } from './cursor.ts'
import type { CursorKind } from './cursor.ts'
import { cancelRun } from './cancel-run.ts'
import { narrowCaller } from './narrow-caller.ts'
import { childReply, messageReply } from './replies.ts'
import { revokeChildHandle } from './revoke-child-handle.ts'
import { sendControlMessage } from './send-control-message.ts'

/** The same API for callers that show a child handle: they get no further than its grant. */
export function withChildHandles<A extends Api<Ctx>>(api: A, db: Database): A {
  return {
    ...api,
    authorize: async (request, route, trace) => {
      const caller = await api.authorize(request, route, trace)
      const token = request.headers.get(CHILD_HANDLE_HEADER)
      const { access } = route
      if (token === null || access === 'public' || access === 'bootstrap') return caller
      const ctx = await narrowCaller(db, caller, token)
      const isDecidedLater = api.decide !== undefined && ctx.iam !== undefined
      if (access !== 'authenticated' && !isDecidedLater) requirePermission(ctx, access)
      return ctx
    },
  }
}

/** What is said to runs, and what runs give to others. */
export function runControlRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, runs.cancelRun, async (sql, ctx, { params, body }) =>
    runReply(await cancelRun(sql, ctx, { ...params, ...body })),
  )
  bindMessages(app, deps)
  bindChildren(app, deps)
}

function bindMessages(app: Hono, deps: Deps): void {
  bind(app, deps, messages.sendControlMessage, async (sql, ctx, { params, body }) =>
    messageReply(await sendControlMessage(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, messages.acknowledgeControlMessage, async (sql, ctx, { params, body }) =>
    messageReply(await acknowledgeControlMessage(sql, ctx, { ...params, ...body })),
  )
  bind(app, deps, messages.listControlMessages, async (sql, ctx, { params, query }) => {
    const { id: runId } = found(await selectRun(sql, ctx, params.id), 'run', params.id)
    const after = decodeSequence('rc', runId, query.cursor)
    const { limit, status } = query
    const rows = await selectMessages(sql, ctx, { runId, after, limit: limit + 1, status })
    return pageBySequence('rc', rows, limit, messageReply)
  })
}

function bindChildren(app: Hono, deps: Deps): void {
  bind(app, deps, children.createChildHandle, async (sql, ctx, { params, body }) => {
    const { child, token } = await createChildHandle(sql, ctx, { ...params, ...body })
    return withStatus(token === null ? 200 : 201, { ...childReply(child), handleToken: token })
  })
  bind(app, deps, children.listChildHandles, async (sql, ctx, { params, query }) => {
    const { id: runId } = found(await selectRun(sql, ctx, params.id), 'run', params.id)
    const after = decodeSequence('cd', runId, query.cursor)
    const { limit } = query
    const rows = await selectChildren(sql, ctx, { runId, after, limit: limit + 1 })
    return pageBySequence('cd', rows, limit, childReply)
  })
  bind(app, deps, children.getChildHandle, async (sql, ctx, { params: { id } }) =>
    childReply(found(await selectChild(sql, ctx, id), 'child handle', id)),
  )
  bind(app, deps, children.revokeChildHandle, async (sql, ctx, { params, body }) =>
    childReply(await revokeChildHandle(sql, ctx, { ...params, ...body })),
  )
}

function pageBySequence<Row extends { runId: string; sequence: number }, Item>(
  kind: CursorKind,
  rows: readonly Row[],
  limit: number,
  toItem: (row: Row) => Item,
): { items: Item[]; nextCursor: string | null } {
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const more = last !== undefined && rows.length > limit
  const nextCursor = more ? encodeSequence(kind, last.runId, last.sequence) : null
  return { items: shown.map(toItem), nextCursor }
}
