import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as goals from '#contract/goals.ts'
import * as tasks from '#contract/tasks.ts'
import * as workspaces from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

const newGoal = (client: ClientOptions, body: Partial<goals.NewGoal> = {}) =>
  call(client, goals.createGoal, { body: { title: 'Ship it', ...body } })

const below = (client: ClientOptions, id: string, parentGoalId: string) =>
  call(client, goals.updateGoal, { params: { id }, ifMatch: 1, body: { parentGoalId } })

describe('goals', () => {
  it('are created, changed and told to the journal without their texts', async () => {
    const { client, tenant } = await admin()
    const { id: workspaceId } = await call(client, workspaces.createWorkspace, {
      body: { slug: 'app', name: 'App' },
    })
    const ownerId = tenant.ctx.actorId
    const criteria = ['All tests pass', { metric: 'p95', below: 200 }]
    const top = await newGoal(client)
    const goal = await newGoal(client, {
      description: 'sw0rdf1sh',
      status: 'proposed',
      workspaceId,
      ownerId,
      parentGoalId: top.id,
      criteria,
      createdFrom: 'meeting of May',
    })
    const after = await call(client, goals.updateGoal, {
      params: { id: goal.id },
      ifMatch: 1,
      body: { status: 'active', description: 'sw0rdf1sh again' },
    })

    assert.deepEqual([top.status, goal.criteria, goal.version], ['active', criteria, 1])
    assert.deepEqual(await call(client, goals.getGoal, { params: { id: goal.id } }), after)
    const events = (await eventsOf(db, tenant.ctx)).filter(({ entityId }) => entityId === goal.id)
    assert.deepEqual(
      events.map(({ type, entityVersion, payload }) => [type, entityVersion, payload]),
      [
        [
          'goal.created',
          1,
          {
            title: 'Ship it',
            status: 'proposed',
            workspaceId,
            ownerId,
            parentGoalId: top.id,
            criteriaCount: 2,
            createdFrom: 'meeting of May',
          },
        ],
        [
          'goal.updated',
          2,
          {
            changes: ['description', 'status'],
            fromStatus: 'proposed',
            status: 'active',
            version: 2,
          },
        ],
      ],
    )
  })

  it('change only from the version that was seen, and a change of nothing writes nothing', async () => {
    const { client, tenant } = await admin()
    const { id } = await newGoal(client)
    const change = (ifMatch: number, title: string) =>
      call(client, goals.updateGoal, { params: { id }, ifMatch, body: { title } })

    assert.equal((await change(1, 'Ship it')).version, 1)
    assert.equal((await change(1, 'Ship it well')).version, 2)
    await assert.rejects(change(1, 'Late'), {
      code: 'version_conflict',
      details: { currentVersion: 2, status: 409 },
    })
    const events = await eventsOf(db, tenant.ctx)
    assert.equal(events.filter(({ type }) => type === 'goal.updated').length, 1)
  })

  it('are listed newest first, by status, owner, parent and workspace with what is below', async () => {
    const { client, tenant } = await admin()
    const root = await call(client, workspaces.createWorkspace, { body: { slug: 'a', name: 'A' } })
    const leaf = await call(client, workspaces.createWorkspace, {
      body: { slug: 'b', name: 'B', parentId: root.id },
    })
    const first = await newGoal(client, { workspaceId: leaf.id, ownerId: tenant.ctx.actorId })
    const second = await newGoal(client, { parentGoalId: first.id, status: 'paused' })
    const list = async (query: object) =>
      (await call(client, goals.listGoals, { query })).items.map(({ id }) => id)

    assert.deepEqual(await list({}), [second.id, first.id])
    assert.deepEqual(await list({ status: 'paused' }), [second.id])
    assert.deepEqual(await list({ ownerId: tenant.ctx.actorId }), [first.id])
    assert.deepEqual(await list({ parentGoalId: first.id }), [second.id])
    assert.deepEqual(await list({ workspaceId: root.id }), [])
    assert.deepEqual(await list({ workspaceId: root.id, includeDescendants: 'true' }), [first.id])
    const page = await call(client, goals.listGoals, { query: { limit: '1' } })
    assert.deepEqual(await list({ limit: '1', cursor: page.nextCursor }), [first.id])
  })

  it('are never below themselves, however long the line', async () => {
    const { client } = await admin()
    const [a, b, c] = [await newGoal(client), await newGoal(client), await newGoal(client)]
    await below(client, b.id, a.id)
    await below(client, c.id, b.id)

    await assert.rejects(below(client, a.id, c.id), { code: 'dependency_cycle' })
    await assert.rejects(below(client, a.id, a.id), { code: 'dependency_cycle' })
  })

  it('that would be below each other at the same moment are one winner and one refused', async () => {
    const { client } = await admin()
    for (let round = 0; round < 20; round += 1) {
      const [a, b] = [await newGoal(client), await newGoal(client)]
      const outcomes = await Promise.allSettled([
        below(client, a.id, b.id),
        below(client, b.id, a.id),
      ])
      const codes = outcomes.map((outcome) =>
        outcome.status === 'fulfilled' ? 'moved' : (outcome.reason as { code: string }).code,
      )
      assert.deepEqual(codes.toSorted(), ['dependency_cycle', 'moved'])
    }
  })

  it('name only what is there, and are for those who may', async () => {
    const { client, tenant } = await admin()
    const nobody = crypto.randomUUID()
    const { id } = await call(client, workspaces.createWorkspace, {
      body: { slug: 'old', name: 'Old' },
    })
    await call(client, workspaces.archiveWorkspace, { params: { id }, ifMatch: 1 })
    const reader = clientOf((await tenant.caller(['goals.read'])).key)

    await assert.rejects(newGoal(client, { workspaceId: id }), { code: 'workspace_archived' })
    for (const place of ['workspaceId', 'ownerId', 'parentGoalId']) {
      await assert.rejects(newGoal(client, { [place]: nobody }), { code: 'not_found' })
    }
    assert.deepEqual((await call(reader, goals.listGoals)).items, [])
    await assert.rejects(newGoal(reader), { code: 'permission_denied' })
  })
})

describe('the goal of a task', () => {
  it('is given, changed, taken away and listed by', async () => {
    const { client } = await admin()
    const goal = await newGoal(client)
    const task = await call(client, tasks.createTask, { body: { title: 'Do', goalId: goal.id } })
    await call(client, tasks.createTask, { body: { title: 'Do something else' } })
    const listed = async () =>
      (await call(client, tasks.listTasks, { query: { goalId: goal.id } })).items

    assert.deepEqual(await listed(), [task])
    const after = await call(client, tasks.updateTask, {
      params: { ref: task.id },
      ifMatch: 1,
      body: { goalId: null },
    })
    assert.deepEqual([task.goalId, after.goalId], [goal.id, null])
    assert.deepEqual(await listed(), [])
    await assert.rejects(
      call(client, tasks.createTask, { body: { title: 'Do', goalId: crypto.randomUUID() } }),
      { code: 'not_found' },
    )
  })
})
