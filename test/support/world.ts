import { randomBytes } from 'node:crypto'
import type { Hono } from 'hono'
import { call } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import * as org from '#contract/org.ts'
import type { Route, RouteReply } from '#contract/route.ts'
import * as workspaces from '#contract/workspaces.ts'
import type { Database } from '#db/sql.ts'
import { CONTEXT_ADAPTER } from '#events/consumers.ts'
import { testClient } from './client.ts'
import { testTenant } from './ctx.ts'

/** A tenant with one thing of every kind, made through the API like a user would. */
export interface World {
  client: ClientOptions
  tenantId: string
  /** Stands in every name and text of this tenant and nowhere else. */
  marker: string
  /** Every UUID that an answer to this tenant ever held. */
  ids: ReadonlySet<string>
  thing: Things
}

type Things = Awaited<ReturnType<typeof makeThings>>

/** Calls as the tenant and remembers what the answer names. */
export type Make = <R extends Route>(route: R, input: CallInput<R>) => Promise<RouteReply<R>>

export async function buildWorld(db: Database, app: Hono): Promise<World> {
  const { key, ctx } = await testTenant(db)
  const client = testClient(app, key)
  const marker = `m${randomBytes(6).toString('hex')}`
  const ids = new Set<string>()
  const make: Make = async (route, input) => {
    const reply = await call(client, route, input)
    for (const id of uuidsIn(JSON.stringify(reply))) ids.add(id)
    return reply
  }
  await db`
    insert into event_consumer_cursors (name, tenant_id)
    values (${CONTEXT_ADAPTER}, ${ctx.tenantId})`
  const thing = await makeThings(make, marker)
  return { client, tenantId: ctx.tenantId, marker, ids, thing }
}

export function uuidsIn(text: string): string[] {
  return text.toLowerCase().match(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g) ?? []
}

async function makeThings(make: Make, marker: string) {
  const { tenant } = await make(org.getMe, {})
  return { tenantId: tenant.id, ...(await makeOrg(make, marker)) }
}

async function makeOrg(make: Make, marker: string) {
  const principal = await make(org.createPrincipal, {
    body: { kind: 'agent', displayName: `agent ${marker}` },
  })
  const apiKey = await make(org.createApiKey, {
    params: { id: principal.id },
    body: { name: `key ${marker}`, permissions: ['tasks.read'] },
  })
  const root = await make(workspaces.createWorkspace, {
    body: { slug: `root-${marker}`, name: `root ${marker}` },
  })
  const workspace = await make(workspaces.createWorkspace, {
    body: { slug: `leaf-${marker}`, name: `leaf ${marker}`, parentId: root.id },
  })
  const page = await make(workspaces.listWorkspaces, { query: { limit: '1' } })
  return {
    principal: principal.id,
    apiKey: apiKey.id,
    root: root.id,
    workspace: workspace.id,
    workspaceCursor: page.nextCursor ?? '',
  }
}
