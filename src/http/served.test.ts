import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { send } from '#client/client.ts'
import { getMe } from '#contract/org.ts'
import { getTask } from '#contract/tasks.ts'
import { jsonLog } from '#lib/log.ts'
import { testClient } from '../../test/support/client.ts'
import { testTenant } from '../../test/support/ctx.ts'
import { sharedDb } from '../../test/support/db.ts'
import { wholeApp } from '../../test/support/whole.ts'

const db = await sharedDb()
const TRACE_ID = '0af7651916cd43dd8448eb211c80319c'

function listening() {
  const lines: Record<string, unknown>[] = []
  const log = jsonLog(
    (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
    () => new Date(),
  )
  return { app: wholeApp(db, null, log), lines }
}

describe('every answer', () => {
  it('is one line of the log with its ids, tenant, route, status and duration', async () => {
    const { app, lines } = listening()
    const { key, ctx } = await testTenant(db)
    const client = testClient(app, key)
    const headers = {
      'x-request-id': 'request-1',
      'x-run-id': 'run-1',
      traceparent: `00-${TRACE_ID}-b7ad6b7169203331-01`,
    }
    await send(client, getMe, { headers })
    await send(client, getTask, { params: { ref: 'TASK-999999' } })
    await send(testClient(app, 'cp_wrong_key'), getMe)
    await app.request('/nowhere/secret-path')

    const [ok, missing, refused, unmatched] = lines
    assert.equal(lines.length, 4)
    const { durationMs, correlationId, time, ...rest } = ok ?? {}
    assert.ok(typeof durationMs === 'number' && durationMs > 0)
    assert.ok(correlationId !== undefined && time !== undefined)
    assert.deepEqual(rest, {
      level: 'info',
      msg: 'Request',
      method: 'GET',
      route: getMe.path,
      status: 200,
      tenantId: ctx.tenantId,
      traceId: TRACE_ID,
      requestId: 'request-1',
      traceRunId: 'run-1',
    })
    assert.deepEqual([missing?.['status'], missing?.['route']], [404, getTask.path])
    assert.deepEqual([refused?.['status'], refused?.['tenantId']], [401, null])
    assert.deepEqual([unmatched?.['status'], unmatched?.['route']], [404, 'unmatched'])
    assert.doesNotMatch(JSON.stringify(lines), /secret-path|cp_wrong/)
  })

  it('is measured by route and status, under labels that callers cannot multiply', async () => {
    const { app } = listening()
    const { key } = await testTenant(db)
    await send(testClient(app, key), getMe)
    await app.request('/nowhere/one')
    await app.request('/nowhere/two', { method: 'PURGE' })
    const text = await (await app.request('/metrics')).text()
    const counts = text.split('\n').filter((line) => line.includes('duration_seconds_count{'))
    const path = getMe.path
    for (const labels of [
      `method="GET",route="${path}",status="200"`,
      'method="GET",route="unmatched",status="404"',
      'method="other",route="unmatched",status="404"',
    ]) {
      assert.ok(counts.includes(`http_request_duration_seconds_count{${labels}} 1`), text)
    }
  })
})
