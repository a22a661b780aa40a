import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { listApprovals } from '#contract/approvals.ts'
import { AGENT_PERMISSIONS } from '#contract/permissions.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import {
  approvalTenant,
  changeTask,
  decide,
  DECIDES,
  newRevision,
  newRole,
  newTaskId,
} from '../../test/support/approvals.ts'
import { sharedDb } from '../../test/support/db.ts'
import { projectsOf } from '../../test/support/projects.ts'

const db = await sharedDb()

async function listed(client: ClientOptions, query: Record<string, string> = {}) {
  const { items } = await call(client, listApprovals, { query })
  return items.map(({ id }) => id)
}

describe('the list of approvals', () => {
  it('is narrowed by status, task and artifact, newest first, page by page', async () => {
    const { client, person, ask } = await approvalTenant(db)
    const [taskId, other] = [await newTaskId(client), await newTaskId(client)]
    const artifactId = await newRevision(client, { taskId })
    const first = await ask({ taskId })
    const second = await ask({ taskId: other })
    const third = await ask({ artifactId })
    await decide(person, 'approve', second.id)

    assert.deepEqual(await listed(client), [third.id, second.id, first.id])
    assert.deepEqual(await listed(client, { status: 'pending' }), [third.id, first.id])
    assert.deepEqual(await listed(client, { taskId }), [third.id, first.id])
    assert.deepEqual(await listed(client, { artifactId }), [third.id])
    const one = await call(client, listApprovals, { query: { limit: '1' } })
    const rest = { limit: '2', cursor: one.nextCursor ?? '' }
    assert.deepEqual(await listed(client, rest), [second.id, first.id])
    await assert.rejects(listed(client, { ...rest, status: 'pending' }), { code: 'invalid_cursor' })
  })

  it('is narrowed to workspaces and projects', async () => {
    const { client, tenant, ask } = await approvalTenant(db)
    const tree = projectsOf(db, tenant.ctx)
    const { workspaceId, project } = await tree.place()
    const leaf = await tree.addWorkspace(workspaceId)
    const about = async (place: string) =>
      (await ask({ taskId: await newTaskId(client, { workspaceId: place }) })).id
    const [top, below] = [await about(workspaceId), await about(leaf)]
    await about(await tree.addWorkspace())

    assert.deepEqual(await listed(client, { workspaceId }), [top])
    const includeDescendants = 'true'
    assert.deepEqual(await listed(client, { workspaceId, includeDescendants }), [below, top])
    assert.deepEqual(await listed(client, { projectId: project.id }), [below, top])
  })

  it('of what concerns me holds what is addressed to me where it belongs', async () => {
    const { client, person, add, ask } = await approvalTenant(db)
    const place = async (slug: string) =>
      (await call(client, createWorkspace, { body: { slug, name: slug } })).id
    const [here, there] = [await place('here'), await place('there')]
    const requiredRoleId = await newRole(client, [person.id], { givenAt: here })
    const other = await add(DECIDES)
    const of = (workspaceId: string) => newTaskId(client, { workspaceId })
    const byRole = await ask({ taskId: await of(here), requiredRoleId })
    await ask({ taskId: await of(there), requiredRoleId })
    const byName = await ask({ taskId: await of(there) })
    await ask({ taskId: await of(here), assignedPrincipalId: other.id })
    const done = await ask({ taskId: await of(there) })
    await decide(person, 'reject', done.id)

    const assignedToMe = 'true'
    assert.deepEqual(await listed(person.client, { assignedToMe }), [done.id, byName.id, byRole.id])
    const pending = { assignedToMe, status: 'pending' }
    assert.deepEqual(await listed(person.client, pending), [byName.id, byRole.id])
    const decidableByMe = 'true'
    assert.deepEqual(await listed(person.client, { decidableByMe }), [byName.id, byRole.id])
    assert.deepEqual(await listed(person.client, { decidableByMe, status: 'rejected' }), [])
  })

  it('of what I may decide leaves out what I asked for or made, and is empty for others', async () => {
    const { client, add, agent, ask } = await approvalTenant(db)
    const both = await add([...AGENT_PERMISSIONS, 'approvals.decide'])
    const reader = await add(['approvals.read'])
    const requiredRoleId = await newRole(client, [both.id, agent.id, reader.id])
    const artifactId = await newRevision(both.client)
    await ask({ artifactId, requiredRoleId })
    await ask({ taskId: await newTaskId(client), requiredRoleId }, both.client)
    await ask({ taskId: await newTaskId(both.client), requiredRoleId })
    const taskId = await newTaskId(client)
    const { id } = await ask({ taskId, requiredRoleId })
    const decidableByMe = 'true'

    assert.deepEqual(await listed(both.client, { decidableByMe }), [id])
    assert.deepEqual(await listed(agent.client, { decidableByMe }), [])
    assert.deepEqual(await listed(reader.client, { decidableByMe }), [])
    assert.equal((await listed(agent.client, { assignedToMe: 'true' })).length, 4)
    await changeTask(both.client, taskId, { title: 'Mine now' })
    assert.deepEqual(await listed(both.client, { decidableByMe }), [])
  })
})
