import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { getContext, getHarnessContext } from '#contract/context.ts'
import { connect } from '#db/sql.ts'
import { createMetrics } from '#observe/metrics.ts'
import { contextMeter } from '../meters.ts'
import { testApp, testClient } from '../../test/support/client.ts'
import {
  addTask,
  addWorkspace,
  contextClient,
  contextTenant,
  providerAt,
  startTask,
} from '../../test/support/context.ts'
import { sharedDb } from '../../test/support/db.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { fakeMemory, memoryAnswering, PACK } from '../../test/support/fake-memory.ts'
import { testAddress, testServer } from '../../test/support/server.ts'
import { waitFor } from '../../test/support/wait.ts'
import { contextRoutes } from './routes.ts'

const db = await sharedDb()

const READER = ['tasks.read', 'events.read', 'artifacts.read'] as const

describe('POST /context with memory', () => {
  it('passes the pack on as it is, and asks with the rights and the focus of the caller', async (t) => {
    const memory = await memoryAnswering(t, 200, { ...PACK, extra: { kept: true } })
    const tenant = await contextTenant(db)
    const agent = await tenant.caller(READER)
    const client = contextClient(db, agent.key, providerAt(memory.url))
    const root = await addWorkspace(db, tenant.ctx)
    const inner = await addWorkspace(db, tenant.ctx, root)
    const sibling = await addWorkspace(db, tenant.ctx, root)
    const task = await addTask(db, tenant.ctx, { workspaceId: inner, title: 'Title' })
    const anchors = [`workspace:${sibling}`]
    const answer = await call(client, getContext, { body: { task: task.id, anchors } })
    assert.equal(answer.memoryStatus, 'ok')
    assert.equal(answer.memoryTraceId, PACK.trace_id)
    assert.deepEqual(answer.memory, { ...PACK, extra: { kept: true } })
    assert.deepEqual(answer.warnings, [])
    const [asked] = memory.questions
    assert.deepEqual(asked?.scope.namespaces, [
      `tenant:${tenant.ctx.tenantId}`,
      `tenant:${tenant.ctx.tenantId}:ws:${root}`,
    ])
    assert.deepEqual(asked?.allowed_scopes.toSorted(), [
      `principal:${agent.ctx.actorId}`,
      ...[inner, root].map((id) => `workspace:${id}`).toSorted(),
    ])
    assert.ok(!asked?.scopes.includes(`workspace:${sibling}`))
    assert.equal(memory.heard[0]?.headers['authorization'], 'Bearer key-of-the-tests')
  })

  it('passes on the ids by which the work of both can be followed', async (t) => {
    const memory = await memoryAnswering(t, 200, PACK)
    const tenant = await contextTenant(db)
    const client = contextClient(db, tenant.key, providerAt(memory.url))
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const ids = { 'x-run-id': 'run-1', traceparent }
    await call(client, getContext, { body: {}, headers: ids })
    await call(client, getContext, { body: {}, headers: { traceparent: 'not one' } })
    const [first, second] = memory.heard.map(({ headers }) => headers)
    assert.deepEqual([first?.['x-run-id'], first?.['traceparent']], ['run-1', traceparent])
    assert.equal(second?.['traceparent'], undefined)
  })

  it('keeps what is true now apart from what memory says about it', async (t) => {
    const claim = { kind: 'fact', id: 'fact-1', text: 'TASK-000001 is claimed by A', score: 9 }
    const lie = { ...PACK, sections: [{ kind: 'relevant_facts', items: [claim] }] }
    const memory = await memoryAnswering(t, 200, { ...lie, operational: { permissions: ['all'] } })
    const tenant = await contextTenant(db)
    const task = await addTask(db, tenant.ctx)
    const { claimId } = await startTask(db, tenant.ctx, task.id)
    const body = { task: task.id }
    const plain = await call(tenant.client, getContext, { body })
    const remembering = contextClient(db, tenant.key, providerAt(memory.url))
    const answer = await call(remembering, getContext, { body })
    assert.deepEqual(answer.operational, plain.operational)
    assert.equal(answer.operational.focus.task?.activeClaimId, claimId)
    assert.equal(memory.questions[0]?.ephemeral_context.activeClaims[0]?.taskId, task.id)
  })

  it('is never felled by memory, whatever memory does', async (t) => {
    const closed = await fakeServer(t, () => {})
    await closed.close()
    const nonsense = ['garbage', '[]', 'null', '{"score": NaN}', '{"score": 1e999}', '']
    const failures: [string, string][] = [
      [closed.url, 'unavailable'],
      [(await fakeServer(t, (_, response) => response.destroy())).url, 'unavailable'],
      [(await fakeServer(t, (_, response) => half(response))).url, 'unavailable'],
    ]
    for (const body of nonsense)
      failures.push([(await memoryAnswering(t, 200, body)).url, 'unavailable'])
    for (const status of [400, 401, 403, 404, 409, 413, 422, 429, 500, 503]) {
      failures.push([(await memoryAnswering(t, status, { detail: 'SESAME' })).url, 'unavailable'])
    }
    const tenant = await contextTenant(db)
    const task = await addTask(db, tenant.ctx)
    for (const [url, memoryStatus] of failures) {
      const client = contextClient(db, tenant.key, providerAt(url))
      const answer = await call(client, getContext, { body: { task: task.id } })
      assert.equal(answer.memoryStatus, memoryStatus, url)
      assert.equal(answer.memory, null)
      assert.equal(answer.operational.focus.task?.id, task.id)
      assert.equal(answer.warnings.length, 1)
      assert.ok(!answer.warnings.join().includes('SESAME'))
    }
  })

  it('gives up at the deadline, and holds no connection while it waits', async (t) => {
    const silent = await fakeServer(t, () => {})
    const tenant = await contextTenant(db)
    const [name] = await db`select current_database() as name`
    const single = connect(testAddress(testServer(), name?.['name'], 'app'), {
      maxConnections: 1,
      appName: 'strata-test-single',
    })
    t.after(() => single.end({ timeout: 1 }))
    const provider = providerAt(silent.url, { timeoutSeconds: 1.5 })
    const waiting = call(contextClient(single, tenant.key, provider), getContext)
    await waitFor(() => silent.heard.length === 1)
    await call(contextClient(single, tenant.key), getHarnessContext)
    const answer = await waiting
    assert.equal(answer.memoryStatus, 'timeout')
    assert.equal(answer.warnings.length, 1)
  })

  it('asks the tenant’s own namespace alone when both together are refused', async (t) => {
    for (const status of [400, 403, 422]) {
      const memory = await fakeMemory(t, ({ scope }, response) => {
        reply(response, scope.namespaces.length > 1 ? status : 200, PACK)
      })
      const tenant = await contextTenant(db, providerAt(memory.url))
      const workspaceId = await addWorkspace(db, tenant.ctx)
      const answer = await call(tenant.client, getContext, { body: { workspaceId } })
      assert.equal(answer.memoryStatus, 'ok')
      assert.deepEqual(answer.warnings, [
        'context provider rejected the multi-namespace read; tenant namespace only',
      ])
      const [first, second] = memory.questions
      assert.deepEqual(second?.scope.namespaces, [`tenant:${tenant.ctx.tenantId}`])
      assert.deepEqual({ ...second, scope: null }, { ...first, scope: null })
    }
  })

  it('shares one deadline between both attempts', async (t) => {
    const memory = await fakeMemory(t, ({ scope }, response) => {
      if (scope.namespaces.length > 1) setTimeout(() => reply(response, 403, {}), 1000)
    })
    const tenant = await contextTenant(db, providerAt(memory.url, { timeoutSeconds: 1.2 }))
    const workspaceId = await addWorkspace(db, tenant.ctx)
    const started = performance.now()
    const answer = await call(tenant.client, getContext, { body: { workspaceId } })
    assert.equal(answer.memoryStatus, 'timeout')
    assert.equal(answer.warnings.length, 2)
    assert.ok(performance.now() - started < 2700)
  })

  it('counts answers, answers without memory, and failed calls', async (t) => {
    const memory = await fakeMemory(t, ({ scope }, response) => {
      reply(response, scope.namespaces.length > 1 ? 403 : 500, {})
    })
    const tenant = await contextTenant(db)
    const metrics = createMetrics()
    const options = { provider: providerAt(memory.url), metrics: contextMeter(metrics) }
    const app = testApp(db, (hono, deps) => contextRoutes(hono, deps, options))
    const client = testClient(app, tenant.key)
    const workspaceId = await addWorkspace(db, tenant.ctx)
    await call(client, getContext, { body: { workspaceId } })
    await call(client, getContext, { body: { includeMemory: false } })
    const text = await metrics.registry.metrics()
    assert.match(text, /^context_requests_total 2$/m)
    assert.match(text, /^context_degraded_total\{status="unavailable"\} 1$/m)
    assert.match(text, /^context_provider_failures_total 2$/m)
    assert.match(text, /^context_request_duration_seconds_count 2$/m)
  })

  it('does not narrow for a failure that has another cause', async (t) => {
    const memory = await memoryAnswering(t, 500, {})
    const tenant = await contextTenant(db, providerAt(memory.url))
    const workspaceId = await addWorkspace(db, tenant.ctx)
    await call(tenant.client, getContext, { body: { workspaceId } })
    assert.equal(memory.heard.length, 1)
  })
})

function half(response: ServerResponse): void {
  response.writeHead(200, { 'content-length': '100' }).write('{"a":')
  setImmediate(() => response.destroy())
}
