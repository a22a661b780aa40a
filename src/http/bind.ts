import type { Hono } from 'hono'
import type { Route, RouteReply } from '#contract/route.ts'
import { transaction } from '#db/sql.ts'
import type { Database, Sql, TransactionMode } from '#db/sql.ts'
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
  serve(app, deps.api, route, async (caller, input) => {
    const appended = collectAppended()
    const ctx: Ctx = { ...caller, wake: appended.wake }
    const once = onceOf(route, ctx, input)
    const answer = await transaction(deps.db, mode, async (sql) => {
      const command = async () => answerOf(route, await handler(sql, ctx, input))
      const reply = once ? await runOnce(sql, ctx, once, command) : await command()
      if (mode === 'read write') await deps.api.confirm(sql, ctx)
      return reply
    })
    appended.announce(deps.notify, ctx.tenantId)
    return answer
  })
}

/**
 * Serves a route outside any transaction, for one that asks another service: a connection must not
 * wait for the network. The handler opens its own short transactions.
 */
export function bindOutside<R extends Route>(
  app: Hono,
  deps: Deps & { leaseSeconds: number },
  route: R,
  handler: Handler<R, Database>,
): void {
  serve(app, deps.api, route, async (caller, input) => {
    const appended = collectAppended()
    const ctx: Ctx = { ...caller, wake: appended.wake }
    const once = onceOf(route, ctx, input)
    const command = async () => answerOf(route, await handler(deps.db, ctx, input))
    const { leaseSeconds } = deps
    const answer = await (once
      ? runOnceOutside(deps.db, ctx, { ...once, leaseSeconds }, command)
      : command())
    appended.announce(deps.notify, ctx.tenantId)
    return answer
  })
}

/** One short transaction of a route that moves bytes. */
export type Transact = <T>(mode: TransactionMode, work: (sql: Sql) => Promise<T>) => Promise<T>

/** Longer than a request may take to arrive; then its Idempotency-Key is free again if the process died. */
const TRANSFER_LEASE_SECONDS = 600

/**
 * Serves a route that moves bytes: no transaction is open while they move. Those that the handler opens are
 * like those of {@link bind}: they take a turn, and before a write commits the caller is confirmed.
 */
export function bindTransfer<R extends Route>(
  app: Hono,
  deps: Deps,
  route: R,
  handler: Handler<R, Transact>,
): void {
  const { api, db } = deps
  serve(app, api, route, async (caller, input) => {
    const appended = collectAppended()
    const ctx: Ctx = { ...caller, wake: appended.wake }
    const transact: Transact = async (mode, work) => {
      const turn = await api.enter?.(ctx, {}, ctx.signal)
      const confirmed = async (sql: Sql) => {
        const result = await work(sql)
        if (mode === 'read write') await api.confirm(sql, ctx)
        return result
      }
      return await attempt(() => transaction(db, mode, confirmed), turn)
    }
    const once = onceOf(route, ctx, input)
    const command = async () => answerOf(route, await handler(transact, ctx, input))
    const answer = await (once
      ? runOnceOutside(db, ctx, { ...once, leaseSeconds: TRANSFER_LEASE_SECONDS }, command)
      : command())
    appended.announce(deps.notify, ctx.tenantId)
    return answer
  })
}

function answerOf<T>(route: Route, reply: T): Answer<T> {
  const status = (reply as { [STATUS_MARK]?: number })[STATUS_MARK] ?? route.statuses[0] ?? 200
  return { status, body: reply }
}
