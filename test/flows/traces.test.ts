import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { claimTask } from '#contract/claims.ts'
import { getContext } from '#contract/context.ts'
import { buildContext } from '#contract/memory-context.ts'
import { recordObservations } from '#contract/memory.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask } from '#contract/tasks.ts'
import { databaseUrl } from '#db/address.ts'
import { testTenant } from '../support/ctx.ts'
import { ownDatabase } from '../support/db.ts'
import { otlpReceiver } from '../support/otlp-receiver.ts'
import type { ReceivedSpan } from '../support/otlp-receiver.ts'
import { startRole } from '../support/program.ts'
import { waitFor } from '../support/wait.ts'

const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'
const CALLER_SPAN = 'b7ad6b7169203331'
const MEMORY_KEY = 'key-of-the-memory-of-this-test'

describe('traces', () => {
  it('follow a request through transactions and memory, and show deliveries and jobs', async (t) => {
    const receiver = await otlpReceiver(t)
    const own = await ownDatabase(t, 'control-plane', 'app')
    const memoryDb = await ownDatabase(t, 'memory', 'app')
    const common = {
      CP_DATABASE_URL: databaseUrl(own.address('owner')),
      CB_DATABASE_URL: databaseUrl(memoryDb.address('owner')),
      CB_SERVER_API_KEY: MEMORY_KEY,
      CB_SERVER_PORT: '0',
      CP_PORT: '0',
      CP_BOOTSTRAP_TOKEN: 'nobody-bootstraps-this-one',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=of-the-test',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
    }
    const memory = startRole(t, 'memory', common)
    const [, memoryUrl = ''] = await memory.hears(/is ready at (\S+)/)
    const settings = {
      ...common,
      CP_CONTEXT_PROVIDER: 'http',
      CP_CONTEXT_BASE_URL: memoryUrl,
      CP_CONTEXT_API_KEY: MEMORY_KEY,
      CP_CONTEXT_TIMEOUT_SECONDS: '30',
    }
    const all = startRole(t, 'all', settings)
    const [, url = ''] = await all.hears(/is ready at (\S+)/)
    const { ctx, key } = await testTenant(own.db)
    const client = { url, token: key }

    const task = await call(client, createTask, { body: { title: 'SECRET title' } })
    const session = await call(client, openSession, { body: { clientName: 'test' } })
    const body = { sessionId: session.id }
    const claim = await call(client, claimTask, { params: { ref: task.id }, body })
    await own.db`
      update claims
      set expires_at = clock_timestamp()
      where tenant_id = ${ctx.tenantId}
        and id = ${claim.id}`
    const headers = { traceparent: `00-${TRACE_ID}-${CALLER_SPAN}-01`, 'x-request-id': 'asked' }
    const context = await call(client, getContext, { body: { query: 'SECRET query' }, headers })
    assert.equal(context.memoryStatus, 'ok')

    const { spans } = receiver
    const one = (wanted: Partial<ReceivedSpan>) =>
      spans.find((span) =>
        Object.entries(wanted).every(([name, value]) => Reflect.get(span, name) === value),
      )
    const asked = await soon(() =>
      one({ traceId: TRACE_ID, service: 'strata-all', kind: 'server' }),
    )
    assert.equal(asked.parentSpanId, CALLER_SPAN)
    assert.equal(asked.name, `POST ${getContext.path}`)
    assert.equal(asked.failed, false)
    const { attributes } = asked
    assert.equal(attributes['http.response.status_code'], 200)
    assert.equal(attributes['strata.request_id'], 'asked')
    assert.equal(attributes['strata.tenant_id'], ctx.tenantId)

    const inside = { traceId: TRACE_ID, parentSpanId: asked.spanId }
    const read = await soon(() => one({ ...inside, name: 'transaction snapshot' }))
    assert.equal(read.attributes['db.system.name'], 'postgresql')
    const question = await soon(() => one({ ...inside, kind: 'client' }))
    assert.equal(question.name, `POST ${buildContext.path}`)
    const answered = await soon(() =>
      one({ traceId: TRACE_ID, service: 'strata-memory', parentSpanId: question.spanId }),
    )
    assert.equal(answered.name, `POST ${buildContext.path}`)
    assert.equal(answered.kind, 'server')

    const write = await soon(() => one({ name: `POST ${claimTask.path}` }))
    assert.equal(write.parentSpanId, undefined)
    await soon(() => one({ name: 'transaction read write', parentSpanId: write.spanId }))

    const cycle = await soon(() => one({ service: 'strata-all', name: 'adapter cycle' }))
    const delivery = await soon(() => one({ name: 'adapter delivery', parentSpanId: cycle.spanId }))
    assert.equal(delivery.attributes['strata.tenant_id'], ctx.tenantId)
    const sent = await soon(() => one({ kind: 'client', parentSpanId: delivery.spanId }))
    assert.equal(sent.name, `POST ${recordObservations.path}`)
    await soon(() => one({ service: 'strata-memory', parentSpanId: sent.spanId }))

    const job = await soon(() => one({ service: 'strata-all', name: 'job leases' }))
    assert.equal(job.attributes['strata.claims'], 1)
    await soon(() => one({ name: 'transaction read write', parentSpanId: job.spanId }))

    assert.ok(receiver.headers.every((header) => header['x-collector-key'] === 'of-the-test'))
    assert.match(receiver.text(), /deployment\.environment\.name/)
    assert.doesNotMatch(receiver.text(), /SECRET|key-of-the-memory|cp_[0-9a-f]/)
    for (const role of [all, memory]) {
      assert.match(role.said(), new RegExp(`"msg":"Request".*"traceId":"${TRACE_ID}"`))
    }
    for (const role of [all, memory]) role.kill('SIGTERM')
    for (const role of [all, memory]) assert.equal(await role.ended, 0, role.said())
  })

  it('are not made, and nothing for them is loaded, where no collector is named', () => {
    const root = join(import.meta.dirname, '../..')
    const files = globSync('src/**/*.ts', { cwd: root })
    const naming = (pattern: RegExp) =>
      files.filter((file) => pattern.test(readFileSync(join(root, file), 'utf8')))
    const own = ['otel-metrics.ts', 'otel-resource.ts', 'otel.ts']
    assert.deepEqual(
      naming(/from '@opentelemetry\//).filter((file) => !file.endsWith('.test.ts')),
      own.map((name) => join('src', 'observe', name)),
    )
    assert.deepEqual(naming(/import [^;]*from '#observe\/otel(-\w+)?\.ts'/), [])
    assert.deepEqual(naming(/await import\('#observe\/otel(-metrics)?\.ts'\)/), [
      join('src', 'open-metrics.ts'),
      join('src', 'open-tracing.ts'),
    ])
  })

  it('that cannot be sent are told once, and hinder nothing', async (t) => {
    const own = await ownDatabase(t, 'control-plane', 'app')
    const api = startRole(t, 'api', {
      CP_DATABASE_URL: databaseUrl(own.address('app')),
      CP_PORT: '0',
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://127.0.0.1:9/v1/traces',
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=SECRET',
      OTEL_EXPORTER_OTLP_TIMEOUT: '200',
      OTEL_BSP_SCHEDULE_DELAY: '10',
    })
    const [, url = ''] = await api.hears(/is ready at (\S+)/)
    const { key } = await testTenant(own.db)
    for (let number = 0; number < 3; number += 1) {
      await call({ url, token: key }, createTask, { body: { title: 'Done anyway' } })
    }
    await api.hears(/Traces cannot be sent/)
    api.kill('SIGTERM')
    assert.equal(await api.ended, 0, api.said())
    assert.equal(api.said().split('Traces cannot be sent').length, 2)
    assert.doesNotMatch(api.said(), /SECRET/)
  })
})

/** The span, once it has come. */
async function soon(find: () => ReceivedSpan | undefined): Promise<ReceivedSpan> {
  let found: ReceivedSpan | undefined
  await waitFor(() => (found = find()) !== undefined, 30)
  assert.ok(found)
  return found
}
