import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import * as projects from '#contract/projects.ts'
import * as relations from '#contract/relations.ts'
import * as roles from '#contract/roles.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import * as workspaces from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

async function newTask(client: ClientOptions, body: Partial<tasks.NewTask> = {}) {
  return await call(client, tasks.createTask, { body: { title: 'Work', ...body } })
}

async function claim(client: ClientOptions, ref: string) {
  const session = await call(client, sessions.openSession, { body: { clientName: 'test' } })
  return await call(client, claims.claimTask, { params: { ref }, body: { sessionId: session.id } })
}

async function reasons(client: ClientOptions, ref: string) {
  const reply = await call(client, tasks.getClaimability, { params: { ref } })
  assert.equal(reply.claimable, reply.reasons.length === 0)
  return reply.reasons
}

async function available(client: ClientOptions, query: object = {}) {
  const { items } = await call(client, tasks.listAvailableWork, { query })
  return items.map(({ id }) => id)
}

describe('a task that depends on others', () => {
  it('can be claimed when the last of them is completed, and not before', async () => {
    const { client } = await admin()
    const [task, first, second] = [
      await newTask(client),
      await newTask(client),
      await newTask(client),
    ]
    for (const { id } of [first, second]) {
      const body = { type: 'depends_on', toTask: id } as const
      await call(client, relations.addRelation, { params: { ref: task.id }, body })
    }
    const complete = (ref: string, ifMatch: number) =>
      call(client, tasks.completeTask, { params: { ref }, ifMatch })

    assert.deepEqual(await reasons(client, task.id), ['task_not_ready'])
    assert.deepEqual(await available(client), [first.id, second.id])
    await assert.rejects(claim(client, task.id), {
      code: 'task_not_ready',
      details: {
        waitingFor: [
          { taskId: first.id, publicId: first.publicId, status: 'open' },
          { taskId: second.id, publicId: second.publicId, status: 'open' },
        ],
        status: 409,
      },
    })
    await complete(first.id, 1)
    await call(client, tasks.updateTask, {
      params: { ref: second.id },
      ifMatch: 1,
      body: { status: 'cancelled' },
    })
    assert.deepEqual(await reasons(client, task.id), ['task_not_ready'])
    await call(client, tasks.updateTask, {
      params: { ref: second.id },
      ifMatch: 2,
      body: { status: 'open' },
    })
    await complete(second.id, 3)
    assert.deepEqual(await reasons(client, task.id), [])
    assert.deepEqual(await available(client), [task.id])
    assert.equal((await claim(client, task.id)).fencingToken, 1)
  })

  it('is free at once when what it waited for is no dependency any more', async () => {
    const { client } = await admin()
    const [task, other] = [await newTask(client), await newTask(client)]
    const { id } = await call(client, relations.addRelation, {
      params: { ref: task.id },
      body: { type: 'depends_on', toTask: other.id },
    })
    assert.deepEqual(await available(client), [other.id])
    await call(client, relations.removeRelation, { params: { ref: task.id, id } })
    assert.deepEqual(await available(client), [task.id, other.id])
  })

  it('is not held up by its parent, by what spawned it or by what it relates to', async () => {
    const { client } = await admin()
    const [task, other] = [await newTask(client), await newTask(client)]
    for (const type of ['parent', 'spawned_by', 'relates_to'] as const) {
      const body = { type, toTask: other.id }
      await call(client, relations.addRelation, { params: { ref: task.id }, body })
    }
    assert.deepEqual(await reasons(client, task.id), [])
  })
})

describe('a task with requirements', () => {
  it('is for those who have all of them where the task is', async () => {
    const { client, tenant } = await admin()
    const agent = await tenant.caller(['tasks.read', 'tasks.claim', 'sessions.open'])
    const ann = clientOf(agent.key)
    const place = async (slug: string) =>
      (await call(client, workspaces.createWorkspace, { body: { slug, name: slug } })).id
    const [here, there] = [await place('here'), await place('there')]
    const reviewer = await call(client, roles.createRole, {
      body: { slug: 'reviewer', name: 'Reviewer' },
    })
    const python = await call(client, roles.createCapability, { body: { name: 'python' } })
    const requirements = { roles: ['reviewer'], capabilities: ['python'], skills: [] }
    const task = await newTask(client, { workspaceId: here, requirements })
    const elsewhere = await newTask(client, { workspaceId: there, requirements })
    const grant = { principalId: agent.ctx.actorId }
    await call(client, roles.assignRole, {
      params: { id: reviewer.id },
      body: { ...grant, workspaceId: here },
    })

    assert.deepEqual(task.requirements, requirements)
    assert.deepEqual(await reasons(ann, task.id), ['not_eligible'])
    await assert.rejects(claim(ann, task.id), {
      code: 'not_eligible',
      details: { missing: [{ kind: 'capability', name: 'python' }], status: 403 },
    })
    assert.deepEqual(await available(ann), [])
    await call(client, roles.assignCapability, { params: { id: python.id }, body: grant })
    assert.deepEqual(await available(ann), [task.id])
    assert.deepEqual(await reasons(ann, elsewhere.id), ['not_eligible'])
    assert.equal((await claim(ann, task.id)).holderId, agent.ctx.actorId)
  })

  it('may leave a page of work short, and the next one has the rest', async () => {
    const { client } = await admin()
    const skills = { roles: [], capabilities: [], skills: ['forge'] }
    await newTask(client, { requirements: skills })
    const free = await newTask(client)
    const page = await call(client, tasks.listAvailableWork, { query: { limit: '1' } })

    assert.deepEqual(page.items, [])
    assert.ok(page.nextCursor)
    assert.deepEqual(await available(client, { limit: '1', cursor: page.nextCursor }), [free.id])
  })
})

describe('available work of a project', () => {
  it('is that of its workspace and the plain ones below, and with subprojects of all', async () => {
    const { client } = await admin()
    const place = async (slug: string, parentId?: string) => {
      const body = { slug, name: slug, ...(parentId !== undefined && { parentId }) }
      return (await call(client, workspaces.createWorkspace, { body })).id
    }
    const root = await place('app')
    const plain = await place('plain', root)
    const nested = await place('nested', root)
    const outside = await place('outside')
    const { id: projectId } = await call(client, projects.createProject, {
      body: { workspaceId: root },
    })
    await call(client, projects.createProject, { body: { workspaceId: nested } })
    const taskIn = async (workspaceId: string) => (await newTask(client, { workspaceId })).id
    const [own, below, sub] = [await taskIn(root), await taskIn(plain), await taskIn(nested)]
    await taskIn(outside)

    assert.deepEqual(await available(client, { projectId }), [own, below])
    const whole = { projectId, includeSubprojects: 'true' }
    assert.deepEqual(await available(client, whole), [own, below, sub])
    assert.deepEqual(await available(client, { ...whole, workspaceId: plain }), [below])
    const { items } = await call(client, tasks.listTasks, { query: { projectId } })
    assert.deepEqual(
      items.map(({ id }) => id),
      [below, own],
    )
    await assert.rejects(available(client, { projectId: crypto.randomUUID() }), {
      code: 'not_found',
    })
  })
})

describe('claimability', () => {
  it('gives every reason at once', async () => {
    const { client, tenant } = await admin()
    const reader = clientOf((await tenant.caller(['tasks.read'])).key)
    const [task, other] = [
      await newTask(client, {
        requirements: { roles: ['smith'], capabilities: [], skills: [] },
      }),
      await newTask(client),
    ]
    await call(client, relations.addRelation, {
      params: { ref: task.id },
      body: { type: 'depends_on', toTask: other.id },
    })
    await call(client, tasks.updateTask, {
      params: { ref: task.id },
      ifMatch: 2,
      body: { status: 'blocked' },
    })

    assert.deepEqual(await reasons(reader, task.id), [
      'task_not_claimable',
      'task_not_ready',
      'not_eligible',
      'permission_denied',
    ])
    await claim(client, other.id)
    assert.deepEqual(await reasons(client, other.id), ['task_already_claimed'])
  })
})
