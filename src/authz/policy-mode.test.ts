import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import { createPrincipal, getMe, listPrincipals } from '#contract/org.ts'
import { createTask, getTask, listTasks, updateTask } from '#contract/tasks.ts'
import { createWorkspace, getWorkspaceTree } from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { startIssuer } from '../../test/support/issuer.ts'
import { startDecisionPoint } from '../../test/support/policies.ts'
import { tokenClients } from '../../test/support/token-clients.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { waitFor } from '../../test/support/wait.ts'
import { decisionPoint } from './decision-point.ts'
import { policyDecider } from './policy-decider.ts'
import type { Decide } from './policy-decider.ts'
import { shadowDecider } from './shadow-decider.ts'

const db = await sharedDb()
const people = Array.from({ length: 20 }, () => `user-${randomUUID()}`)
const issuer = await startIssuer(people)
const ALL = 'control-plane:read control-plane:write control-plane:admin'

/** A tenant with the trees root > leaf and other; Ann of the issuer is bound with one permission. */
async function scene(kind: 'human' | 'agent' = 'human', permissions = ['goals.read']) {
  const subject = people.pop() ?? ''
  const local = tokenClients(db, issuer.url)
  const { admin, tenant, principalId } = await local.bound(subject, { permissions }, kind)
  const add = (slug: string, parentId: string | null = null) =>
    call(admin, createWorkspace, { body: { slug, name: slug, parentId } })
  const root = await add('root')
  const leaf = await add('leaf', root.id)
  const other = await add('other')
  const tasks = {
    leaf: await call(admin, createTask, { body: { title: 'leaf', workspaceId: leaf.id } }),
    other: await call(admin, createTask, { body: { title: 'other', workspaceId: other.id } }),
    nowhere: await call(admin, createTask, { body: { title: 'nowhere' } }),
  }
  const clientOf = async (decide: Decide, scope = ALL) =>
    tokenClients(db, issuer.url, { decide }).clientOf(
      await issuer.token(subject, { audience: 'control-plane', scope }),
    )
  return { subject, tenant, admin, principalId, root, leaf, other, tasks, clientOf }
}

async function policyOf(t: TestContext, cedar: string, now?: () => number) {
  const { point, stop } = await startDecisionPoint(t, cedar)
  const decide = policyDecider({ db, point, cacheSeconds: 5, ...(now && { now }) })
  return { decide, point, stop }
}

describe('policy mode', () => {
  it('decides about the very task and workspace, whatever the binding permits', async (t) => {
    const here = await scene()
    const { decide } = await policyOf(
      t,
      `permit (principal == Principal::"${here.subject}",
        action in [Action::"tasks.read", Action::"tasks.write", Action::"workspaces.read"],
        resource in Workspace::"${here.root.id}");`,
    )
    const client = await here.clientOf(decide)
    const reading = (id: string) => codeOf(client, getTask, { params: { ref: id } })
    assert.equal(await reading(here.tasks.leaf.id), 'ok')
    assert.equal(await reading(here.tasks.leaf.publicId), 'ok')
    assert.equal(await reading(here.tasks.other.id), 'permission_denied')
    assert.equal(await reading(here.tasks.nowhere.publicId), 'permission_denied')
    const write = (workspaceId: string | null) =>
      codeOf(client, createTask, { body: { title: 'x', workspaceId } })
    assert.equal(await write(here.leaf.id), 'ok')
    assert.equal(await write(here.other.id), 'permission_denied')
    assert.equal(await write(null), 'permission_denied')
    const move = (workspaceId: string) =>
      codeOf(client, updateTask, {
        params: { ref: here.tasks.leaf.id },
        ifMatch: 1,
        body: { workspaceId },
      })
    assert.equal(await move(here.other.id), 'permission_denied')
    assert.equal(await move(here.root.id), 'ok')
    assert.equal(await codeOf(client, listPrincipals, {}), 'permission_denied')
  })

  it('lists what the policies let the subject see, and nothing else', async (t) => {
    const here = await scene()
    const { decide } = await policyOf(
      t,
      `permit (principal, action, resource in Workspace::"${here.root.id}");
       forbid (principal, action, resource in Workspace::"${here.leaf.id}");`,
    )
    const client = await here.clientOf(decide)
    const { items } = await call(client, getWorkspaceTree, {})
    assert.deepEqual(
      items.map(({ id, children }) => [id, children.length]),
      [[here.root.id, 0]],
    )
    assert.deepEqual((await call(client, listTasks, {})).items, [])
    await call(client, createTask, { body: { title: 'mine', workspaceId: here.root.id } })
    const tasks = await call(client, listTasks, {})
    assert.deepEqual(
      tasks.items.map(({ title }) => title),
      ['mine'],
    )
  })

  it('shows what belongs to no workspace to whom the tenant is open', async (t) => {
    const here = await scene()
    const { decide } = await policyOf(
      t,
      `permit (principal, action, resource in Tenant::"${here.tenant.ctx.tenantId}");
       forbid (principal, action, resource in Workspace::"${here.other.id}");`,
    )
    const client = await here.clientOf(decide)
    const { items } = await call(client, listTasks, {})
    assert.deepEqual(items.map(({ title }) => title).toSorted(), ['leaf', 'nowhere'])
    assert.equal(await codeOf(client, listPrincipals, {}), 'ok')
  })

  it('is narrowed by the scopes of the token and by what only people may do', async (t) => {
    const here = await scene('agent')
    const { decide } = await policyOf(t, 'permit (principal, action, resource);')
    const reader = await here.clientOf(decide, 'control-plane:read')
    assert.equal(await codeOf(reader, listTasks, {}), 'ok')
    assert.equal(await codeOf(reader, createTask, { body: { title: 'x' } }), 'permission_denied')
    const { permissions } = await call(await here.clientOf(decide), getMe, {})
    assert.ok(permissions.includes('tasks.write'))
    assert.ok(!permissions.includes('admin') && !permissions.includes('approvals.decide'))
  })

  it('lets nobody in when there is no decision, and leaves local keys alone', async (t) => {
    const here = await scene()
    const { decide, stop } = await policyOf(t, 'permit (principal, action, resource);')
    const client = await here.clientOf(decide)
    await stop()
    assert.equal(await codeOf(client, listTasks, {}), 'policy_unavailable')
    const before = await call(here.admin, listTasks, {})
    assert.equal(await codeOf(client, createTask, { body: { title: 'x' } }), 'policy_unavailable')
    assert.equal((await call(here.admin, listTasks, {})).items.length, before.items.length)
    const both = tokenClients(db, issuer.url, { decide })
    assert.equal(await codeOf(both.clientOf(here.tenant.key), listTasks, {}), 'ok')
  })

  it('keeps a decision for five seconds, not longer, and not while it cannot ask', async (t) => {
    const here = await scene()
    let nowMs = 0
    const { decide, stop } = await policyOf(t, 'permit (principal, action, resource);', () => nowMs)
    const client = await here.clientOf(decide)
    assert.equal(await codeOf(client, listTasks, {}), 'ok')
    await stop()
    nowMs = 4900
    assert.equal(await codeOf(client, listTasks, {}), 'ok')
    nowMs = 5100
    assert.equal(await codeOf(client, listTasks, {}), 'policy_unavailable')
  })

  it('takes an answer that is not one for no decision', async (t) => {
    const here = await scene()
    const answers = ['{}', '[]', 'null', '{"evaluations":[{"decision":"yes"}]}', '<html>', '']
    for (const answer of answers) {
      const url = await startAnswering(t, answer)
      const point = decisionPoint({ url, apiKey: undefined, timeoutSeconds: 3 })
      const client = await here.clientOf(policyDecider({ db, point, cacheSeconds: 5 }))
      assert.equal(await codeOf(client, listTasks, {}), 'policy_unavailable', answer)
    }
  })

  it('waits no longer than it was told', async (t) => {
    const here = await scene()
    const url = await startAnswering(t, null)
    const point = decisionPoint({ url, apiKey: undefined, timeoutSeconds: 0.2 })
    const client = await here.clientOf(policyDecider({ db, point, cacheSeconds: 5 }))
    assert.equal(await codeOf(client, listTasks, {}), 'policy_unavailable')
  })
})

/** A server that answers every question with this text, or never with null. */
async function startAnswering(t: TestContext, answer: string | null): Promise<string> {
  const server = createServer((_request, response) => {
    if (answer !== null) response.end(answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

/** The scene in shadow mode, with everything that was counted. */
async function shadowed(t: TestContext, cedar: string, permissions: string[]) {
  const here = await scene('human', permissions)
  const { point, stop } = await startDecisionPoint(t, cedar)
  const seen = { checked: 0, diverged: 0, unavailable: 0, skipped: 0 }
  const count = (name: keyof typeof seen) => () => void (seen[name] += 1)
  const decide = shadowDecider({
    db,
    point,
    counts: {
      checked: count('checked'),
      diverged: count('diverged'),
      unavailable: count('unavailable'),
      skipped: count('skipped'),
    },
  })
  const settled = (total: number) =>
    waitFor(() => Promise.resolve(seen.checked + seen.unavailable === total))
  return { ...here, seen, stop, settled, client: await here.clientOf(decide), decide }
}

describe('shadow mode', () => {
  it('lets the binding decide and counts where the decision point differs', async (t) => {
    const permitReads = 'permit (principal, action == Action::"tasks.read", resource);'
    const { client, seen, settled } = await shadowed(t, permitReads, ['tasks.read', 'tasks.write'])
    assert.equal(await codeOf(client, listTasks, {}), 'ok')
    await settled(1)
    assert.deepEqual(seen, { checked: 1, diverged: 0, unavailable: 0, skipped: 0 })
    assert.equal(await codeOf(client, createTask, { body: { title: 'x' } }), 'ok')
    await settled(2)
    assert.deepEqual(seen, { checked: 2, diverged: 1, unavailable: 0, skipped: 0 })
  })

  it('counts too where the decision point would allow what the binding does not', async (t) => {
    const { client, seen, settled } = await shadowed(t, 'permit (principal, action, resource);', [
      'tasks.read',
    ])
    const made = { body: { kind: 'agent', displayName: 'x' } } as const
    assert.equal(await codeOf(client, createPrincipal, made), 'permission_denied')
    await settled(1)
    assert.equal(seen.diverged, 1)
  })

  it('goes on without a decision point, and skips what it does not decide about', async (t) => {
    const { client, seen, settled, stop, tenant, decide } = await shadowed(
      t,
      'permit (principal, action, resource);',
      ['tasks.read'],
    )
    await stop()
    assert.equal(await codeOf(client, listTasks, {}), 'ok')
    await settled(1)
    assert.deepEqual(seen, { checked: 0, diverged: 0, unavailable: 1, skipped: 0 })
    assert.equal(await codeOf(client, getMe, {}), 'ok')
    const byKey = tokenClients(db, issuer.url, { decide }).clientOf(tenant.key)
    assert.equal(await codeOf(byKey, listTasks, {}), 'ok')
    assert.equal(seen.skipped, 2)
  })
})
