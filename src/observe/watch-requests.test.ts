import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { send } from '#client/client.ts'
import { createPrincipal, getMe } from '#contract/org.ts'
import { createTask, getTask } from '#contract/tasks.ts'
import { health } from '#contract/memory.ts'
import { jsonLog } from '#lib/log.ts'
import type { LogLevel } from '#lib/log.ts'
import { createMemoryApp } from '#memory/app.ts'
import { testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb, sharedMemoryDb } from '../../test/support/db.ts'
import { MEMORY_SETTINGS } from '../../test/support/memory.ts'
import { wholeApp } from '../../test/support/whole.ts'
import { createMetrics } from './metrics.ts'
import { watchRequests } from './watch-requests.ts'

const db = await sharedDb()
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

type Line = Record<string, unknown>

function collected(level: LogLevel = 'info') {
  const lines: Line[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Line)
  return { lines, log: jsonLog(write, () => new Date(), level) }
}

function listening(level?: LogLevel) {
  const { lines, log } = collected(level)
  return { app: wholeApp(db, null, { log }), lines }
}

function told({ status, code, route, tenantId }: Line = {}) {
  return [status, code, route, tenantId]
}

async function samples(app: ReturnType<typeof wholeApp>): Promise<string[]> {
  return (await (await app.request('/metrics')).text()).split('\n')
}

describe('every answer', () => {
  it('is one line of the log with its ids, caller, route, status and duration', async () => {
    const { app, lines } = listening()
    const { key, ctx } = await testTenant(db)
    const client = testClient(app, key)
    const headers = {
      'x-request-id': 'request-1',
      'x-correlation-id': 'correlation-1',
      'x-run-id': 'run-1',
      traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
    }
    await send(client, getMe, { headers })
    await send(client, getTask, { params: { ref: 'TASK-999999' } })
    await send(testClient(app, 'cp_wrong_key'), getMe)
    await app.request('/health/live')

    const [ok, missing, refused] = lines
    assert.equal(lines.length, 3)
    const { durationMs, time, ...rest } = ok ?? {}
    assert.ok(typeof durationMs === 'number' && durationMs > 0)
    assert.ok(typeof time === 'string')
    assert.deepEqual(rest, {
      level: 'info',
      msg: 'Request',
      method: 'GET',
      route: getMe.path,
      status: 200,
      tenantId: ctx.tenantId,
      principal: ctx.actorId,
      requestId: 'request-1',
      correlationId: 'correlation-1',
      traceRunId: 'run-1',
      traceId: TRACE_ID,
    })
    assert.deepEqual(told(missing), [404, 'not_found', getTask.path, ctx.tenantId])
    assert.deepEqual(told(refused), [401, 'invalid_credentials', getMe.path, null])
  })

  it('says nothing of what was sent: no path, query, body, header or refused value', async () => {
    const { app, lines } = listening('debug')
    const { key } = await testTenant(db)
    const client = testClient(app, key)
    const headers = { 'x-request-id': 'SECRET in a header', traceparent: 'SECRET' }
    await app.request('/nowhere/SECRET-path?q=SECRET')
    await app.request('/nowhere', { method: 'SECRET' })
    await send(client, getTask, { params: { ref: 'SECRET' }, headers })
    await send(client, createTask, { body: { title: 'SECRET', priority: 'SECRET' } as never })
    await send(client, createTask, { body: { title: 'SECRET' }, idempotencyKey: 'SECRET' })
    await send(testClient(app, 'cp_SECRET_SECRET'), getMe)
    assert.ok(lines.length >= 6)
    assert.doesNotMatch(JSON.stringify(lines), /SECRET/)
  })

  it('is measured by route, status and code, under labels that callers cannot multiply', async () => {
    const { app } = listening()
    const { key } = await testTenant(db)
    const client = testClient(app, key)
    const body = { kind: 'agent', displayName: 'a' } as const
    await send(client, createPrincipal, { body, idempotencyKey: 'the same' })
    await send(client, createPrincipal, { body, idempotencyKey: 'the same' })
    await send(client, getTask, { params: { ref: 'TASK-999999' } })
    await app.request('/nowhere/one')
    await app.request('/nowhere/two', { method: 'PURGE' })

    const text = await samples(app)
    const route = createPrincipal.path
    for (const line of [
      `http_request_duration_seconds_count{method="POST",route="${route}",status="201"} 2`,
      `http_request_duration_seconds_count{method="GET",route="unmatched",status="404"} 1`,
      `http_request_duration_seconds_count{method="other",route="unmatched",status="404"} 1`,
      `http_refusals_total{route="${getTask.path}",code="not_found"} 1`,
      `idempotency_replays_total{route="${route}"} 1`,
      'http_requests_in_flight 1',
    ]) {
      assert.ok(text.includes(line), `${line}\n${text.join('\n')}`)
    }
  })

  it('of the memory service is told in the same way', async () => {
    const memoryDb = await sharedMemoryDb()
    const { lines, log } = collected()
    const metrics = createMetrics()
    const watch = watchRequests({ log, metrics })
    const settings = { ...MEMORY_SETTINGS, serverApiKey: undefined }
    const app = createMemoryApp({ db: memoryDb, log, settings, watch })
    await send(testClient(app, ''), health)
    const [line] = lines
    assert.deepEqual([line?.['route'], line?.['status']], [health.path, 200])
    assert.match(await metrics.registry.metrics(), /route="\/healthz",status="200"/)
  })
})
