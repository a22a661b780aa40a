import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import * as sessions from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import * as workspaces from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const { admin, clientOf } = workClients(await sharedDb())

describe('sessions', () => {
  it('are opened, shown, listed, renewed and closed', async () => {
    const { client, tenant } = await admin()

    const opened = await call(client, sessions.openSession, {
      body: {
        clientName: 'editor',
        clientVersion: '1.2',
        metadata: { pane: 3 },
        ttlSeconds: 1,
        harness: {
          type: 'claude-code',
          protocolVersion: '2',
          capabilities: ['resume', 'telepathy'],
          hostname: 'box',
        },
      },
    })
    assert.equal(opened.ttlSeconds, 10, 'a lease is at least ten seconds')
    assert.equal(opened.controlLevel, 'connected')
    assert.equal(opened.principalId, tenant.ctx.actorId)
    assert.deepEqual(opened.harness?.capabilities, ['resume'])
    const params = { id: opened.id }
    assert.deepEqual(await call(client, sessions.getSession, { params }), opened)
    const list = await call(client, sessions.listSessions, { query: { status: 'active' } })
    assert.deepEqual(list.items, [opened])

    const renewed = await call(client, sessions.heartbeatSession, {
      params,
      body: { ttlSeconds: 100_000 },
    })
    assert.equal(renewed.ttlSeconds, 3600, 'and at most an hour')
    assert.ok(renewed.expiresAt > opened.expiresAt)
    const closed = await call(client, sessions.closeSession, { params })
    assert.equal(closed.status, 'closed')
    await assert.rejects(call(client, sessions.heartbeatSession, { params }), {
      code: 'session_not_active',
    })
    assert.deepEqual(
      (await call(client, sessions.listSessions, { query: { status: 'active' } })).items,
      [],
    )
  })

  it('are refused for a bad harness, an unknown protocol and a person who delegated nothing', async () => {
    const { client } = await admin()
    const open = (more: object) =>
      call(client, sessions.openSession, { body: { clientName: 'x', ...more } })

    await assert.rejects(open({ harness: { type: 'Bad Type', protocolVersion: '1' } }), {
      code: 'invalid_harness',
    })
    await assert.rejects(open({ harness: { type: 'x', protocolVersion: '3' } }), {
      code: 'unsupported_protocol_version',
    })
    const onBehalfOf = '0198f0a0-0000-7000-8000-00000000000a'
    await assert.rejects(open({ onBehalfOf }), { code: 'delegation_required' })
    await assert.rejects(open({ clientName: '' }), { code: 'invalid_request' })
  })

  it('belong to their principal', async () => {
    const { tenant, client } = await admin()
    const { key } = await tenant.caller(['sessions.open'])
    const other = clientOf(key)
    const { id } = await call(client, sessions.openSession, { body: { clientName: 'mine' } })
    const params = { id }

    await assert.rejects(call(other, sessions.getSession, { params }), { code: 'not_found' })
    await assert.rejects(call(other, sessions.heartbeatSession, { params }), {
      code: 'session_owner_mismatch',
    })
    await assert.rejects(call(other, sessions.closeSession, { params }), {
      code: 'session_owner_mismatch',
    })
    assert.deepEqual((await call(other, sessions.listSessions)).items, [])
  })
})

describe('tasks', () => {
  it('are created, shown by both names, changed and completed', async () => {
    const { client, tenant } = await admin()
    const workspace = await call(client, workspaces.createWorkspace, {
      body: { slug: 'core', name: 'Core' },
    })
    const created = await call(client, tasks.createTask, {
      body: {
        title: 'Fix the build',
        description: 'It is red.',
        priority: 'high',
        workspaceId: workspace.id,
        assigneeId: tenant.ctx.actorId,
        customFields: { points: 3 },
        startDate: '2026-02-28',
        dueDate: '2026-03-01',
        origin: { kind: 'issue', ref: '#17' },
        acceptance: ['the build is green'],
      },
    })
    assert.equal(created.publicId, 'TASK-000001')
    assert.equal(created.startDate, '2026-02-28')
    assert.deepEqual(created.origin, { kind: 'issue', ref: '#17', ruleId: null, evidence: [] })
    for (const ref of [created.id, created.publicId, created.id.toUpperCase()]) {
      assert.deepEqual(await call(client, tasks.getTask, { params: { ref } }), created)
    }

    const params = { ref: created.id }
    const response = await send(client, tasks.updateTask, {
      params,
      ifMatch: 1,
      body: { title: 'Fix the build for good', status: 'in_progress', dueDate: null },
    })
    assert.equal(response.headers.get('etag'), '"task-2"')
    const changed = (await response.json()) as tasks.Task
    assert.equal(changed.systemStatusCategory, 'active')
    assert.equal(changed.dueDate, null)
    assert.deepEqual(changed.customFields, { points: 3 })
    await assert.rejects(
      call(client, tasks.updateTask, { params, ifMatch: 1, body: { title: 'late' } }),
      { code: 'version_conflict', details: { currentVersion: 2, status: 409 } },
    )

    const done = await call(client, tasks.completeTask, {
      params,
      ifMatch: 2,
      body: { evidence: ['https://ci.example/1'] },
    })
    assert.equal(done.status, 'completed')
    assert.equal(done.version, 3)
    assert.ok(done.completedAt)
    assert.deepEqual(done.evidence, ['https://ci.example/1'])
    await assert.rejects(call(client, tasks.completeTask, { params, ifMatch: 3 }), {
      code: 'task_already_completed',
    })
  })

  it('move only as their lifecycle allows, and into success only by completing', async () => {
    const { client } = await admin()
    const task = await call(client, tasks.createTask, { body: { title: 'x' } })
    const move = (status: string, ifMatch: number) =>
      call(client, tasks.updateTask, { params: { ref: task.id }, ifMatch, body: { status } })

    await assert.rejects(move('completed', 1), {
      code: 'invalid_transition',
      details: {
        from: 'open',
        to: 'completed',
        allowed: ['in_progress', 'blocked', 'cancelled'],
        status: 422,
      },
    })
    await assert.rejects(move('constructor', 1), { code: 'invalid_transition' })
    assert.equal((await move('blocked', 1)).systemStatusCategory, 'blocked')
    assert.equal((await move('cancelled', 2)).systemStatusCategory, 'terminal_cancelled')
    await assert.rejects(
      call(client, tasks.completeTask, { params: { ref: task.id }, ifMatch: 3 }),
      { code: 'invalid_transition' },
    )
    assert.equal((await move('open', 3)).status, 'open')
  })

  it('are listed newest first, by status, assignee and workspace with what is below it', async () => {
    const { client, tenant } = await admin()
    const root = await call(client, workspaces.createWorkspace, { body: { slug: 'a', name: 'A' } })
    const leaf = await call(client, workspaces.createWorkspace, {
      body: { slug: 'b', name: 'B', parentId: root.id },
    })
    const make = (body: Partial<tasks.NewTask>) =>
      call(client, tasks.createTask, { body: { title: 't', ...body } })
    const inRoot = await make({ workspaceId: root.id })
    const inLeaf = await make({ workspaceId: leaf.id, assigneeId: tenant.ctx.actorId })
    const loose = await make({})
    const list = async (query: object) =>
      (await call(client, tasks.listTasks, { query })).items.map((task) => task.id)

    assert.deepEqual(new Set(await list({})), new Set([inRoot.id, inLeaf.id, loose.id]))
    assert.deepEqual(await list({ workspaceId: root.id }), [inRoot.id])
    const below = await list({ workspaceId: root.id, includeDescendants: true })
    assert.deepEqual(new Set(below), new Set([inRoot.id, inLeaf.id]))
    assert.deepEqual(await list({ assigneeId: tenant.ctx.actorId }), [inLeaf.id])
    assert.deepEqual(await list({ status: 'completed' }), [])
    const first = await call(client, tasks.listTasks, { query: { limit: '2' } })
    const rest = await call(client, tasks.listTasks, {
      query: { limit: '2', cursor: first.nextCursor ?? '' },
    })
    const ids = [...first.items, ...rest.items].map((task) => task.id)
    assert.deepEqual(ids, await list({}))
    await assert.rejects(
      call(client, tasks.listTasks, {
        query: { status: 'open', cursor: first.nextCursor ?? '' },
      }),
      { code: 'invalid_cursor' },
    )
  })

  it('cannot name a stranger or enter an archived workspace', async () => {
    const { client } = await admin()
    const { id } = await call(client, workspaces.createWorkspace, {
      body: { slug: 'old', name: 'Old' },
    })
    await call(client, workspaces.archiveWorkspace, { params: { id }, ifMatch: 1 })
    const nobody = '0198f0a0-0000-7000-8000-00000000000a'
    const make = (more: object) => call(client, tasks.createTask, { body: { title: 'x', ...more } })

    await assert.rejects(make({ workspaceId: id }), { code: 'workspace_archived' })
    await assert.rejects(make({ workspaceId: nobody }), { code: 'not_found' })
    await assert.rejects(make({ assigneeId: nobody }), { code: 'not_found' })
  })

  it('are offered by priority and age while nobody holds them', async () => {
    const { client } = await admin()
    const { task: held } = await claimedTask(client)
    const make = (priority: tasks.Priority) =>
      call(client, tasks.createTask, { body: { title: priority, priority } })
    const low = await make('low')
    const critical = await make('critical')
    const medium = await make('medium')

    const offered = await call(client, tasks.listAvailableWork)
    assert.deepEqual(
      offered.items.map((task) => task.id),
      [critical.id, medium.id, low.id],
    )
    const paged = await call(client, tasks.listAvailableWork, { query: { limit: '1' } })
    const next = await call(client, tasks.listAvailableWork, {
      query: { limit: '1', cursor: paged.nextCursor ?? '' },
    })
    assert.deepEqual([paged.items[0]?.id, next.items[0]?.id], [critical.id, medium.id])
    assert.deepEqual(
      (await call(client, tasks.listAvailableWork, { query: { assignedToMe: 'true' } })).items,
      [],
    )
    const claimability = (ref: string) => call(client, tasks.getClaimability, { params: { ref } })
    assert.deepEqual(await claimability(low.id), { taskId: low.id, claimable: true, reasons: [] })
    assert.deepEqual((await claimability(held.id)).reasons, ['task_already_claimed'])
    await call(client, tasks.completeTask, { params: { ref: low.id }, ifMatch: 1 })
    assert.deepEqual((await claimability(low.id)).reasons, ['task_not_claimable'])
  })
})
