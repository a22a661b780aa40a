import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import { openSession } from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import type { Priority } from '#contract/tasks.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { sharedDb } from '../../test/support/db.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

async function newTask(client: ClientOptions, workspaceId: string, priority: Priority = 'medium') {
  const body = { title: `A ${priority} task`, workspaceId, priority }
  return (await call(client, tasks.createTask, { body })).id
}

async function available(client: ClientOptions, query: Record<string, string>): Promise<string[]> {
  const { items } = await call(client, tasks.listAvailableWork, { query })
  return items.map(({ id }) => id)
}

describe('the priorities that a project allows', () => {
  it('decide what can be claimed in it and below it, and what is offered', async () => {
    const { tenant, client } = await admin()
    const tree = projectsOf(db, tenant.ctx)
    const { workspaceId, project } = await tree.place()
    const below = await tree.addWorkspace(workspaceId)
    const apart = await tree.addWorkspace()
    const [high, low] = [await newTask(client, below, 'high'), await newTask(client, below, 'low')]
    await tree.configure(project.id, { governance: { allowedTaskPriorities: ['high', 'medium'] } })
    const free = await newTask(client, apart, 'low')
    const { id: sessionId } = await call(client, openSession, { body: { clientName: 'test' } })
    const claim = (ref: string) =>
      call(client, claims.claimTask, { params: { ref }, body: { sessionId } })

    await assert.rejects(claim(low), {
      code: 'task_not_claimable',
      details: {
        projectId: project.id,
        priority: 'low',
        allowedTaskPriorities: ['high', 'medium'],
        status: 422,
      },
    })
    const { claimable, reasons } = await call(client, tasks.getClaimability, {
      params: { ref: low },
    })
    assert.deepEqual([claimable, reasons], [false, ['task_not_claimable']])
    assert.deepEqual(await available(client, {}), [high, free])
    assert.equal((await claim(high)).taskId, high)
    await claim(free)
  })

  it('are the only ones that a task is made with, given or moved to', async () => {
    const { tenant, client } = await admin()
    const tree = projectsOf(db, tenant.ctx)
    const { workspaceId, project } = await tree.place(null, {
      config: { governance: { allowedTaskPriorities: ['high', 'low'] } },
    })
    const refused =
      (loc: string) => (error: { code: string; details: Record<string, unknown> }) => {
        const [first] = error.details['errors'] as { loc: string }[]
        assert.deepEqual([error.code, first?.loc], ['invalid_request', loc])
        assert.equal(error.details['projectId'], project.id)
        assert.deepEqual(error.details['allowedTaskPriorities'], ['high', 'low'])
        return true
      }
    const change = async (ref: string, body: { priority?: Priority; workspaceId?: string }) => {
      const { version } = await call(client, tasks.getTask, { params: { ref } })
      return await call(client, tasks.updateTask, { params: { ref }, ifMatch: version, body })
    }

    await assert.rejects(newTask(client, workspaceId, 'critical'), refused('body.priority'))
    const unsaid = { body: { title: 'Of medium priority', workspaceId } }
    await assert.rejects(call(client, tasks.createTask, unsaid), refused('body.priority'))
    const inside = await newTask(client, workspaceId, 'low')
    await assert.rejects(change(inside, { priority: 'medium' }), refused('body.priority'))
    assert.equal((await change(inside, { priority: 'high' })).priority, 'high')
    const outside = await newTask(client, await tree.addWorkspace(), 'critical')
    await assert.rejects(change(outside, { workspaceId }), refused('body.workspaceId'))
    const moved = await change(outside, { workspaceId, priority: 'high' })
    assert.deepEqual([moved.workspaceId, moved.priority], [workspaceId, 'high'])
  })

  it('leave alone what was there before they became stricter', async () => {
    const { tenant, client } = await admin()
    const tree = projectsOf(db, tenant.ctx)
    const { workspaceId, project } = await tree.place()
    const ref = await newTask(client, workspaceId, 'low')
    await tree.configure(project.id, { governance: { allowedTaskPriorities: ['high'] } })
    const rename = { params: { ref }, ifMatch: 1, body: { title: 'Renamed' } }
    assert.equal((await call(client, tasks.updateTask, rename)).title, 'Renamed')
  })
})

describe('a project that asks for an approval before completion', () => {
  it('has no task completed without one', async () => {
    const { tenant, client } = await admin()
    const { workspaceId, project } = await projectsOf(db, tenant.ctx).place(null, {
      config: { governance: { requireApprovalForCompletion: true } },
    })
    const ref = await newTask(client, workspaceId)
    const complete = call(client, tasks.completeTask, { params: { ref }, ifMatch: 1 })
    await assert.rejects(complete, {
      code: 'approval_required',
      details: {
        projectId: project.id,
        governance: 'requireApprovalForCompletion',
        lastDecision: null,
        status: 409,
      },
    })
    const { version, status } = await call(client, tasks.getTask, { params: { ref } })
    assert.deepEqual([version, status], [1, 'open'])
  })
})

describe('work that is available in a project', () => {
  it('is that of its workspaces, and with subprojects that of all below it', async () => {
    const { tenant, client } = await admin()
    const tree = projectsOf(db, tenant.ctx)
    const { workspaceId, project } = await tree.place()
    const plain = await tree.addWorkspace(workspaceId)
    const nested = await tree.place(plain)
    const own = await newTask(client, workspaceId)
    const below = await newTask(client, plain)
    const inner = await newTask(client, nested.workspaceId)
    await newTask(client, await tree.addWorkspace())
    const query = { projectId: project.id }

    assert.deepEqual(await available(client, query), [own, below])
    const all = { ...query, includeSubprojects: 'true' }
    assert.deepEqual(await available(client, all), [own, below, inner])
    assert.deepEqual(await available(client, { ...all, workspaceId: plain }), [below])
    const apart = { ...query, workspaceId: nested.workspaceId }
    assert.deepEqual(await available(client, apart), [])
    const agent = clientOf((await tenant.caller(['tasks.read'])).key)
    await assert.rejects(available(agent, query), { code: 'permission_denied' })
    await assert.rejects(available(client, { projectId: crypto.randomUUID() }), {
      code: 'not_found',
    })
  })
})
