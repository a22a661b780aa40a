import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { getMe, listPrincipals } from '#contract/org.ts'
import { createTask, getTask, listTasks, updateTask } from '#contract/tasks.ts'
import { getWorkspaceTree } from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { policyScenes } from '../../test/support/policy-scene.ts'
import { tokenClients } from '../../test/support/token-clients.ts'
import { codeOf } from '../../test/support/two-trees.ts'

const db = await sharedDb()
const { issuer, scene, policyOf } = await policyScenes(db)

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
    const here = await scene({ kind: 'agent' })
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
})
