import { call, send } from '#client/client.ts'
import type { CallInput, ClientOptions } from '#client/client.ts'
import type { Route } from '#contract/route.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import type { Database } from '#db/sql.ts'
import { workClients } from './work.ts'

/** `ok`, or the code of the refusal. */
export async function codeOf(
  client: ClientOptions,
  route: Route,
  input: CallInput<Route>,
): Promise<string> {
  const response = await send(client, route, input)
  const text = await response.text()
  return response.ok ? 'ok' : (JSON.parse(text) as { error: { code: string } }).error.code
}

/** A tenant with an agent, and two trees of workspaces: root > leaf, and other. */
export async function twoTrees(db: Database) {
  const { admin, clientOf } = workClients(db)
  const { tenant, client } = await admin()
  const agent = await tenant.caller(['sessions.open', 'tasks.read', 'tasks.claim'])
  const add = (slug: string, parentId: string | null = null) =>
    call(client, createWorkspace, { body: { slug, name: slug, parentId } })
  const root = await add('root')
  const leaf = await add('leaf', root.id)
  const other = await add('other')
  const agentId = agent.ctx.actorId
  return { tenant, ctx: tenant.ctx, client, clientOf, agent, agentId, root, leaf, other }
}
