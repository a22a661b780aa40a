import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import { claimTask, releaseClaim } from '#contract/claims.ts'
import { EVENTS } from '#contract/events.ts'
import { failRun, startRun } from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import { createTask } from '#contract/tasks.ts'
import { createMetrics } from '#observe/metrics.ts'
import { testClient } from '../test/support/client.ts'
import { testTenant } from '../test/support/ctx.ts'
import { sharedDb } from '../test/support/db.ts'
import { wholeApp } from '../test/support/whole.ts'
import { countEvents } from './meters.ts'

const db = await sharedDb()

function labelsOf(text: string, metric: string, label: string): string[] {
  const found = text.matchAll(new RegExp(`^${metric}\\{${label}="(\\w+)"`, 'gm'))
  return [...found].map(([, value = '']) => value)
}

describe('the counters of work', () => {
  it('tell claims granted, taken over, refused with the reason, and ended; and runs by outcome', async () => {
    const app = wholeApp(db, null)
    const { key, ctx } = await testTenant(db)
    const client = testClient(app, key)
    const session = await call(client, openSession, { body: { clientName: 'test' } })
    const task = await call(client, createTask, { body: { title: 'Wanted' } })
    const ref = { params: { ref: task.id } }
    const body = { sessionId: session.id }
    const first = await call(client, claimTask, { ...ref, body })
    await send(client, claimTask, { ...ref, body })
    await db`
      update claims
      set expires_at = clock_timestamp()
      where tenant_id = ${ctx.tenantId}
        and id = ${first.id}`
    const { id: claimId, fencingToken } = await call(client, claimTask, { ...ref, body })
    const run = await call(client, startRun, { ...ref, body: { claimId, fencingToken } })
    await call(client, failRun, { params: { id: run.id }, body: { reason: 'no' } })
    await call(client, releaseClaim, { params: { id: claimId }, body: { fencingToken } })

    const lines = (await (await app.request('/metrics')).text()).split('\n')
    for (const line of [
      'claims_granted_total{kind="free"} 1',
      'claims_granted_total{kind="takeover"} 1',
      'claims_refused_total{reason="task_already_claimed"} 1',
      'claims_ended_total{how="expired"} 1',
      'claims_ended_total{how="released"} 1',
      'runs_started_total 1',
      'runs_ended_total{outcome="failed"} 1',
      'journal_events_total{type="task.claimed"} 2',
    ]) {
      assert.ok(
        lines.includes(line),
        `${line}\n${lines.filter((one) => !one.startsWith('#')).join('\n')}`,
      )
    }
  })

  it('know every type of event, and give it labels from closed lists', async () => {
    const metrics = createMetrics()
    countEvents(metrics, Object.keys(EVENTS))
    const text = await metrics.registry.metrics()
    const outcomes = labelsOf(text, 'runs_ended_total', 'outcome')
    assert.deepEqual(outcomes.toSorted(), ['cancelled', 'failed', 'succeeded', 'suspended'])
    const ends = labelsOf(text, 'claims_ended_total', 'how')
    assert.deepEqual(ends.toSorted(), ['expired', 'released'])
  })
})
