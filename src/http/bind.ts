import type { Hono } from 'hono'
import type { Route, RouteReply } from '#contract/route.ts'
import { retryConflicts } from '#db/retry-conflicts.ts'
import { transaction } from '#db/sql.ts'
import type { Database, Sql, Transact } from '#db/sql.ts'
import { collectAppended } from '#lib/appended.ts'
import type { Notify } from '#lib/appended.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { Log } from '#lib/log.ts'
import { onceOf, runOnce, runOnceOutside } from './idempotency.ts'
import { attempt, serve } from './serve.ts'
import type { Answer, Api, RequestInput } from './serve.ts'

export interface ControlPlaneApi extends Api<Ctx> {
  /** Throws when the caller may act no longer, by what others committed since it was let in. */
  confirm: (sql: Sql, ctx: Ctx) => Promise<void>
}

/** What every area of the control plane gets to serve its routes. */
export interface Deps {
  db: Database
  log: Log
  api: ControlPlaneApi
  /** Wakes journal readers of a tenant; called after commit, never inside a transaction. */
  notify: Notify
}

const STATUS_MARK = Symbol('status')

/** A reply with another of the route's statuses: `withStatus(200, stored)` on a 201 route. */
export function withStatus<T>(
  status: 200 | 201 | 202 | 207,
  body: T,
): T & { [STATUS_MARK]: number } {
  return Object.assign({}, body, { [STATUS_MARK]: status })
}

type Handler<R extends Route, Db> = (
  db: Db,
  ctx: Ctx,
  input: RequestInput<R>,
) => Promise<RouteReply<R>>

/**
 * Serves a route in one transaction (read-only for GET), with idempotency when the caller sent a key. Before
 * a write commits, the caller is confirmed once more: who was suspended meanwhile changes nothing.
 * Journal readers are woken after the commit, and only when the command appended an event.
 */
export function bind<R extends Route>(
  app: Hono,
  deps: Deps,
  route: R,
  handler: Handler<R, Sql>,
): void {
  const mode = route.method === 'GET' ? 'read only' : 'read write'
  serveAnnounced(app, deps, route, async (transact, ctx, input) => {
    const once = onceOf(route, ctx, input)
    return await transact(mode, async (sql) => {
      const command = async () => answerOf(route, await handler(sql, ctx, input))
      return once ? await runOnce(sql, ctx, once, command) : await command()
    })
  })
}

/**
 * Serves a route outside any transaction, for one that asks another service: a connection must not
 * wait for the network. The handler opens short transactions of its own, which are like those of
 * {@link bind}: before a write commits the caller is confirmed.
 */
export function bindOutside<R extends Route>(
  app: Hono,
  deps: Deps & { leaseSeconds: number },
  route: R,
  handler: Handler<R, Transact>,
): void {
  const { db, leaseSeconds } = deps
  serveAnnounced(app, deps, route, async (transact, ctx, input) => {
    const once = onceOf(route, ctx, input)
    const command = async () => answerOf(route, await handler(transact, ctx, input))
    return await (once ? runOnceOutside(db, ctx, { ...once, leaseSeconds }, command) : command())
  })
}

/** Longer than a request may take to arrive; then its Idempotency-Key is free again if the process died. */
const TRANSFER_LEASE_SECONDS = 600

/**
 * Serves a route that moves bytes, like {@link bindOutside}; while they move it holds no turn either. Each
 * transaction takes one.
 */
export function bindTransfer<R extends Route>(
  app: Hono,
  deps: Deps,
  route: R,
  handler: Handler<R, Transact>,
): void {
  const { api } = deps
  const outside = { ...deps, leaseSeconds: TRANSFER_LEASE_SECONDS }
  bindOutside(app, outside, route, async (transact, ctx, input) => {
    const inTurn: Transact = async (mode, work) => {
      const turn = await api.enter?.(ctx, {}, ctx.signal)
      return await attempt(() => transact(mode, work), turn)
    }
    return await handler(inTurn, ctx, input)
  })
}

/**
 * Serves a route with transactions that end by asking whether the caller may still act, where they write, and
 * that begin again when the database undoes them for the sake of others. What was appended is announced once the
 * request has been done.
 */
function serveAnnounced<R extends Route>(
  app: Hono,
  { api, db, notify }: Deps,
  route: R,
  run: (transact: Transact, ctx: Ctx, input: RequestInput<R>) => Promise<Answer<RouteReply<R>>>,
): void {
  serve(app, api, route, async (caller, input) => {
    const appended = collectAppended()
    const ctx: Ctx = { ...caller, wake: appended.wake }
    const transact: Transact = async (mode, work) => {
      const confirmed = async (sql: Sql) => {
        const result = await work(sql)
        if (mode === 'read write') await api.confirm(sql, ctx)
        return result
      }
      return await retryConflicts(() => appended.undoing(() => transaction(db, mode, confirmed)))
    }
    const answer = await run(transact, ctx, input)
    appended.announce(notify, ctx.tenantId)
    return answer
  })
}

function answerOf<T>(route: Route, reply: T): Answer<T> {
  const status = (reply as { [STATUS_MARK]?: number })[STATUS_MARK] ?? route.statuses[0] ?? 200
  return { status, body: reply }
}
