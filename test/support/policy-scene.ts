import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'
import { policyDecider } from '#authz/policy-decider.ts'
import type { Decide } from '#authz/policy-decider.ts'
import { call } from '#client/client.ts'
import { createIamBinding } from '#contract/iam.ts'
import { createTask } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import type { Database } from '#db/sql.ts'
import { startIssuer } from './issuer.ts'
import { startDecisionPoint } from './policies.ts'
import { tokenClients } from './token-clients.ts'

const ALL = 'control-plane:read control-plane:write control-plane:admin'

export interface SceneWish {
  kind?: 'human' | 'agent'
  /** What the binding permits. */
  permissions?: string[]
  /** Limits the binding to the workspace root. */
  limited?: boolean
}

/** Tenants of whom one member comes with access tokens. */
export async function policyScenes(db: Database) {
  const people = Array.from({ length: 40 }, () => `user-${randomUUID()}`)
  const issuer = await startIssuer(people)
  const local = tokenClients(db, issuer.url)

  /** A tenant with the trees root > leaf and other; somebody of the issuer is bound with one permission. */
  async function scene({ kind = 'human', permissions = ['goals.read'], limited }: SceneWish = {}) {
    const subject = people.pop() ?? ''
    const unlimited = limited ? `nobody-${randomUUID()}` : subject
    const { admin, tenant, principalId } = await local.bound(unlimited, { permissions }, kind)
    const add = (slug: string, parentId: string | null = null) =>
      call(admin, createWorkspace, { body: { slug, name: slug, parentId } })
    const root = await add('root')
    const leaf = await add('leaf', root.id)
    const other = await add('other')
    if (limited) {
      const identity = { issuer: issuer.url, iamPrincipalId: subject }
      await call(admin, createIamBinding, {
        params: { id: principalId },
        body: { ...identity, permissions, workspaceId: root.id },
      })
    }
    const task = (title: string, workspaceId: string | null) =>
      call(admin, createTask, { body: { title, workspaceId } })
    const tasks = {
      leaf: await task('leaf', leaf.id),
      other: await task('other', other.id),
      nowhere: await task('nowhere', null),
    }
    const clientOf = async (decide: Decide, scope = ALL) =>
      tokenClients(db, issuer.url, { decide }).clientOf(
        await issuer.token(subject, { audience: 'control-plane', scope }),
      )
    return { subject, tenant, admin, principalId, root, leaf, other, tasks, clientOf }
  }

  /** The decision point that we ship with these policies, and a decider that asks it. */
  async function policyOf(t: TestContext, cedar: string, now?: () => number) {
    const { point, stop } = await startDecisionPoint(t, cedar)
    return { decide: policyDecider({ db, point, cacheSeconds: 5, now }), point, stop }
  }

  return { issuer, scene, policyOf }
}

/** A server that answers every question with this text, or never with null. */
export async function startAnswering(
  t: TestContext,
  answer: string | null | ((path: string, body: string) => string),
): Promise<string> {
  const server = createServer((request, response) => {
    let body = ''
    request.on('data', (piece: Buffer) => (body += piece.toString()))
    request.on('end', () => {
      if (answer === null) return
      response.end(typeof answer === 'string' ? answer : answer(request.url ?? '', body))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}
