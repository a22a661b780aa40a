import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CONTEXT_ADAPTER, insertMissingConsumers } from '#events/consumers.ts'
import { connect, transaction } from '#db/sql.ts'
import { createMetrics } from '#observe/metrics.ts'
import type { Metrics } from '#observe/metrics.ts'
import { addSession, addTask } from '../test/support/context.ts'
import { testTenant } from '../test/support/ctx.ts'
import { ownDatabase } from '../test/support/db.ts'
import { claimTask } from '#work/claim-task.ts'
import { databaseGauges } from './gauges.ts'

/** The samples of some metrics, without help and types. */
async function samples(metrics: Metrics, pattern: RegExp): Promise<string[]> {
  const lines = (await metrics.registry.metrics()).split('\n')
  return lines.filter((line) => !line.startsWith('#') && pattern.test(line))
}

describe('the gauges that are read from the database', () => {
  it('tell live leases, what readers of the journal have to read, and what holds them back', async (t) => {
    const { db } = await ownDatabase(t, 'control-plane', 'app')
    const metrics = createMetrics()
    const { ctx } = await testTenant(db)
    await testTenant(db)
    const sessionId = await addSession(db, ctx)
    const over = await addSession(db, ctx)
    const task = await addTask(db, ctx)
    await transaction(db, 'read write', (sql) =>
      claimTask(sql, ctx, { ref: task.id, sessionId, ttlSeconds: 60 }),
    )
    await db`
      update sessions
      set expires_at = clock_timestamp()
      where tenant_id = ${ctx.tenantId}
        and id = ${over}`
    await insertMissingConsumers(db, CONTEXT_ADAPTER)
    await db`
      update event_consumer_cursors
      set status = 'parked', parked_at = now()
      where tenant_id = ${ctx.tenantId}`
    const [{ count } = { count: 0 }] = await db<{ count: number }[]>`
      select count(*)::int as count from events`

    await databaseGauges(metrics, db)()

    assert.deepEqual(await samples(metrics, /_live|_lag_events|_parked|_capped|^context_.*lag/), [
      'claims_live 1',
      'sessions_live 1',
      `journal_consumer_lag_events{consumer="${CONTEXT_ADAPTER}"} ${count}`,
      `context_adapter_lag ${count}`,
      'context_adapter_lag_capped 0',
      'context_adapter_parked_tenants 1',
    ])
    assert.deepEqual(await samples(metrics, /consumer_tenants/), [
      `journal_consumer_tenants{consumer="${CONTEXT_ADAPTER}",status="ok"} 1`,
      `journal_consumer_tenants{consumer="${CONTEXT_ADAPTER}",status="retrying"} 0`,
      `journal_consumer_tenants{consumer="${CONTEXT_ADAPTER}",status="parked"} 1`,
      `journal_consumer_tenants{consumer="${CONTEXT_ADAPTER}",status="paused"} 0`,
    ])
    const seconds = await samples(metrics, /_seconds/)
    assert.ok(seconds.some((line) => /^journal_consumer_lag_seconds.* 0\.\d/.test(line)))
  })

  it('tell how long an open transaction has held readers back', async (t) => {
    const { db, address } = await ownDatabase(t, 'control-plane', 'app')
    const { ctx } = await testTenant(db)
    const writer = connect(address('app'), { maxConnections: 1, appName: 'writer' })
    t.after(() => writer.end({ timeout: 1 }))
    const metrics = createMetrics()
    await transaction(writer, 'read write', async (sql) => {
      await sql`select pg_current_xact_id()`
      await addTask(db, ctx)
      await databaseGauges(metrics, db)()
    })
    for (const name of ['journal_horizon_lag_seconds', 'journal_blocker_age_seconds']) {
      const [line = ''] = await samples(metrics, new RegExp(`^${name}`))
      assert.ok(Number(line.split(' ')[1]) > 0, line)
    }
  })

  it('are absent when the database does not answer, and that is counted', async (t) => {
    const db = connect(
      { url: 'postgres://nobody@127.0.0.1:9/nowhere' },
      { maxConnections: 1, appName: 'test' },
    )
    t.after(() => db.end({ timeout: 0 }))
    const metrics = createMetrics()
    metrics.sessionsLive.set(7)
    await databaseGauges(metrics, db)()
    assert.deepEqual(await samples(metrics, /sessions_live|horizon|consumer/), [])
    assert.deepEqual(await samples(metrics, /readings_failed/), ['metrics_readings_failed_total 1'])
  })
})
