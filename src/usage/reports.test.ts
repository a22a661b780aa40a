import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { createPriceTable } from '#contract/price-tables.ts'
import { failRun, getRun, startRun } from '#contract/runs.ts'
import { openSession as openSessionRoute } from '#contract/sessions.ts'
import { claimTask } from '#contract/claims.ts'
import { getRunUsage, listUsageReports, reportLateUsage } from '#contract/usage-reports.ts'
import { sharedDb } from '../../test/support/db.ts'
import { endLease, eventsOf } from '../../test/support/leases.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { spendingRun } from '../../test/support/usage.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

const PRICES = {
  currency: 'USD',
  entries: [
    { model: 'large-*', input: '3', output: '15', cacheRead: '0.30', cacheWrite: '3.75' },
    { model: 'small', input: '0.25', output: '2' },
  ],
}

describe('what a run used', () => {
  it('is added up by model with its exact cost, and shown with the run', async () => {
    const { client } = await admin()
    await call(client, createPriceTable, { body: PRICES })
    const { params, report } = await spendingRun(client)
    const large = { model: 'large-4', provider: 'anthropic' }

    const first = await report({
      sequence: 1,
      lines: [{ ...large, input: 1000, output: 100, cacheRead: 9000, reasoning: 10 }],
    })
    await report({
      sequence: 2,
      lines: [
        { ...large, input: 1 },
        { model: 'small', output: 3 },
      ],
    })

    assert.equal(first.report.lines[0]?.cost, '0.00735')
    assert.equal(first.report.lines[0]?.priceVersion, 1)
    const { usage, byModel, lastSequence } = await call(client, getRunUsage, { params })
    assert.deepEqual(usage, {
      tokens: { input: 1001, output: 103, cacheRead: 9000, cacheWrite: 0, reasoning: 10 },
      totalTokens: 10_114,
      cost: '0.007359',
      currency: 'USD',
      unpricedTokens: 0,
      reportedUsd: null,
    })
    assert.deepEqual(
      byModel.map(({ provider, model, cost }) => [provider, model, cost]),
      [
        [null, 'small', '0.000006'],
        ['anthropic', 'large-4', '0.007353'],
      ],
    )
    assert.equal(lastSequence, 2)
    assert.deepEqual((await call(client, getRun, { params })).usage, usage)
  })

  it('is counted without a cost where no price is known, and says why', async () => {
    const { client } = await admin()
    const { params, report } = await spendingRun(client)
    const why = async (sequence: number, line: object) => {
      const { report: told } = await report({ sequence, lines: [{ model: 'large-4', ...line }] })
      return told.lines[0]?.unpriced
    }
    assert.equal(await why(1, { input: 5 }), 'no_price_table')
    await call(client, createPriceTable, { body: PRICES })
    assert.equal(await why(2, { input: 10, model: 'unheard-of' }), 'unknown_model')
    assert.equal(await why(3, { cacheRead: 20, model: 'small' }), 'token_class')
    assert.equal(await why(4, { input: 40 }), null)

    const { usage } = await call(client, getRunUsage, { params })
    assert.deepEqual([usage.totalTokens, usage.unpricedTokens, usage.cost], [75, 35, '0.00012'])
  })

  it('keeps the cost that it was given when prices change', async () => {
    const { client } = await admin()
    await call(client, createPriceTable, { body: PRICES })
    const { params, report } = await spendingRun(client)
    const lines = [{ model: 'small', input: 1_000_000 }]
    await report({ sequence: 1, lines })
    const dearer = { ...PRICES, entries: [{ model: '*', input: '7', output: '7' }] }
    await call(client, createPriceTable, {
      body: { ...dearer, effectiveFrom: '2020-01-01T00:00:00Z' },
    })
    await report({ sequence: 2, lines })
    await call(client, createPriceTable, { body: dearer })
    await call(client, createPriceTable, {
      body: { ...PRICES, effectiveFrom: '2999-01-01T00:00:00Z' },
    })
    await report({ sequence: 3, lines })

    const { items } = await call(client, listUsageReports, { params })
    assert.deepEqual(
      items.map(({ sequence, lines: [line] }) => [sequence, line?.cost, line?.priceVersion]),
      [
        [3, '7', 3],
        [2, '0.25', 1],
        [1, '0.25', 1],
      ],
    )
  })

  it('is told once for each sequence: the same again changes nothing, something else is refused', async () => {
    const { client } = await admin()
    const { params, report } = await spendingRun(client)
    const told = { sequence: 4, lines: [{ model: 'large', input: 10, reportedUsd: '0.50' }] }
    const first = await report(told)
    const again = await report({
      ...told,
      lines: [{ model: 'large', input: 10, reportedUsd: '0.5', output: 0 }],
    })
    assert.deepEqual([first.deduplicated, again.deduplicated], [false, true])
    assert.deepEqual(again.report, first.report)
    await assert.rejects(report({ sequence: 4, lines: [{ model: 'large', input: 11 }] }), {
      code: 'usage_sequence_reused',
    })
    const { usage } = await call(client, getRunUsage, { params })
    assert.deepEqual([usage.totalTokens, usage.reportedUsd], [10, '0.5'])
  })

  it('counts twenty copies of one report at once as one', async () => {
    const { client } = await admin()
    const { params, report } = await spendingRun(client)
    const lines = [{ model: 'large', input: 10 }]
    const all = await Promise.all(
      Array.from({ length: 20 }, () =>
        report({ sequence: 1, mode: 'cumulative', cliSessionId: 'thread-1', lines }),
      ),
    )
    assert.equal(all.filter(({ deduplicated }) => !deduplicated).length, 1)
    assert.equal((await call(client, getRunUsage, { params })).usage.totalTokens, 10)
  })
})

describe('what was used by a run that is over', () => {
  const late = { sequence: 2, lines: [{ model: 'large', input: 7 }] }

  it('is told by whoever worked on it, and journaled', async () => {
    const { tenant, client } = await admin()
    const { key } = await tenant.caller(['tasks.claim', 'tasks.read'])
    const { params, report } = await spendingRun(client)
    await report({ sequence: 1, lines: [{ model: 'large', input: 10 }] })
    assert.equal(await codeOf(client, reportLateUsage, { params, body: late }), 'run_in_progress')
    await call(client, failRun, { params, body: { reason: 'tried' } })

    assert.equal(
      await codeOf(clientOf(key), reportLateUsage, { params, body: late }),
      'run_holder_mismatch',
    )
    const { usage, report: told } = await call(client, reportLateUsage, { params, body: late })
    assert.deepEqual([usage.totalTokens, told.late], [17, true])
    const again = { sequence: 1, lines: [{ model: 'large', input: 10 }] }
    const replayed = await call(client, reportLateUsage, { params, body: again })
    assert.deepEqual([replayed.deduplicated, replayed.usage.totalTokens], [true, 17])
    const events = (await eventsOf(db, tenant.ctx)).filter(
      ({ type }) => type === 'run.late_usage_recorded',
    )
    assert.deepEqual(
      events.map(({ entityId, payload }) => [entityId, payload['sequence']]),
      [[told.id, 2]],
    )
  })

  it('counts for the run that used it, whoever holds the task now', async () => {
    const { tenant, client } = await admin()
    const other = clientOf(
      (await tenant.caller(['tasks.claim', 'tasks.read', 'sessions.open'])).key,
    )
    const lost = await spendingRun(client)
    await endLease(db, tenant.ctx, 'claims', lost.claim.id)
    // Nobody has recorded the end of the lease yet.
    const first = await call(client, reportLateUsage, { params: lost.params, body: late })
    assert.equal(first.usage.totalTokens, 7)
    const session = await call(other, openSessionRoute, { body: { clientName: 'other' } })
    const claim = await call(other, claimTask, {
      params: { ref: lost.task.id },
      body: { sessionId: session.id },
    })
    const run = await call(other, startRun, {
      params: { ref: lost.task.id },
      body: { claimId: claim.id, fencingToken: claim.fencingToken },
    })
    const body = { ...late, sequence: 3 }
    const second = await call(client, reportLateUsage, { params: lost.params, body })

    assert.equal(second.usage.totalTokens, 14)
    const { usage } = await call(other, getRunUsage, { params: { id: run.id } })
    assert.equal(usage.totalTokens, 0)
  })
})
