import type { TestContext } from 'node:test'
import type { Hono } from 'hono'
import { call, send } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import type { Route, RouteReply } from '#contract/route.ts'
import type { Database } from '#db/sql.ts'
import { testClient } from '../support/client.ts'
import { testTenant } from '../support/ctx.ts'
import type { TestTenant } from '../support/ctx.ts'

/** A tenant of its own for one case, and the whole application to ask. */
export interface Scene {
  t: TestContext
  db: Database
  app: Hono
  tenant: TestTenant
  /** Its first person. */
  admin: ClientOptions
  clientOf: (key: string) => ClientOptions
  /** Does as its first person what has to be done before. */
  make: <R extends Route>(route: R, input?: CallInput<R>) => Promise<RouteReply<R>>
}

/** The request that was refused, or should have been. */
export interface Refused {
  route: Route
  response: Response
}

/** Brings about what a code is for, and makes the request that is answered with it. */
export type ErrorCase = (scene: Scene) => Promise<Refused>

export async function newScene(t: TestContext, db: Database, app: Hono): Promise<Scene> {
  const tenant = await testTenant(db)
  const clientOf = (key: string) => testClient(app, key)
  const admin = clientOf(tenant.key)
  return { t, db, app, tenant, admin, clientOf, make: (route, input) => call(admin, route, input) }
}

export async function ask<R extends Route>(
  client: ClientOptions,
  route: R,
  input: CallInput<R> = {},
): Promise<Refused> {
  return { route, response: await send(client, route, input) }
}
