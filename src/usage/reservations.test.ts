import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { reclaimClaim } from '#contract/claims.ts'
import { sendControlMessage } from '#contract/control-messages.ts'
import { recordAction } from '#contract/run-actions.ts'
import { suspendRun } from '#contract/run-stops.ts'
import * as runs from '#contract/runs.ts'
import { closeSession } from '#contract/sessions.ts'
import { reportLateUsage, reportUsage } from '#contract/usage-reports.ts'
import type { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { newChild, under, workAsChild } from '../../test/support/children.ts'
import { sharedDb } from '../../test/support/db.ts'
import { endLease } from '../../test/support/leases.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { input, projectWith, spendingRun, stateOf } from '../../test/support/usage.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const clients = workClients(db)

describe('what a run reserved', () => {
  type Spending = Awaited<ReturnType<typeof spendingRun>>
  const ways: Record<string, (client: ClientOptions, run: Spending) => Promise<unknown>> = {
    succeeds: (client, { params, fencingToken }) =>
      call(client, runs.succeedRun, { params, body: { fencingToken } }),
    fails: (client, { params }) => call(client, runs.failRun, { params, body: { reason: 'x' } }),
    'is cancelled': (client, { params }) => call(client, runs.cancelRun, { params }),
    'is suspended': (client, { params, fencingToken }) =>
      call(client, suspendRun, { params, body: { fencingToken, reason: 'wait' } }),
    'is cancelled by force': async (client, { params }) => {
      const { version: expectedRunVersion } = await call(client, runs.getRun, { params })
      await call(client, sendControlMessage, {
        params,
        idempotencyKey: newId(),
        body: { kind: 'force_cancel', expectedRunVersion },
      })
    },
    'ends with its session': (client, { session }) =>
      call(client, closeSession, { params: { id: session.id } }),
  }
  for (const [name, end] of Object.entries(ways)) {
    it(`is free again when it ${name}`, async () => {
      const { client, workspaceId, projectId } = await projectWith(db, clients, {
        maxTotalTokens: 100,
      })
      const run = await spendingRun(client, { workspaceId, maxTokens: 100 })
      await run.report(input(30))
      assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 30, 70, 0]])
      await end(client, run)
      assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 30, 0, 70]])
    })
  }

  it('is free when the lease is over, before and after anybody records that', async () => {
    const { ctx, client, workspaceId, projectId } = await projectWith(db, clients, {
      maxTotalTokens: 100,
    })
    const { claim, params, report } = await spendingRun(client, { workspaceId, maxTokens: 100 })
    await report(input(30))
    await endLease(db, ctx, 'claims', claim.id)
    const free = [['maxTotalTokens', 100, 30, 0, 70]]
    assert.deepEqual(await stateOf(client, projectId), free)
    await call(client, reclaimClaim, { params: { id: claim.id } })
    assert.equal((await call(client, runs.getRun, { params })).status, 'failed')
    assert.deepEqual(await stateOf(client, projectId), free)
    await call(client, reportLateUsage, { params, body: input(60, 2) })
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 90, 0, 10]])
  })
})

describe('a bound', () => {
  it('holds while some runs start and others tell what they used or end', async () => {
    const { client, workspaceId, projectId } = await projectWith(db, clients, {
      maxTotalTokens: 100,
    })
    const start = () => spendingRun(client, { workspaceId, maxTokens: 15 })
    const going = await Promise.all([1, 2, 3, 4, 5, 6].map(start))
    const [ending, telling] = [going.slice(0, 3), going.slice(3)]
    const started = await Promise.allSettled([
      ...Array.from({ length: 10 }, start),
      ...telling.map((run) => run.report(input(15))),
      ...ending.map(({ params }) => call(client, runs.cancelRun, { params })),
    ])
    const refused = started.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
    assert.ok(refused.every((error) => (error as AppError).code === 'budget_exceeded'))
    const [[, , used, reserved] = []] = await stateOf(client, projectId)
    assert.equal(used, 45)
    assert.ok(45 + Number(reserved) <= 100, `${reserved} reserved`)
  })
})

/** A run with all of a budget of 100, and a child of it. */
async function family(grant: object = {}, cancellationPolicy?: 'detach') {
  const made = await projectWith(db, clients, { maxTotalTokens: 100 })
  const { client, workspaceId } = made
  const parent = await spendingRun(client, { workspaceId })
  const wish = { grant, ...(cancellationPolicy && { cancellationPolicy }) }
  const handle = await newChild(client, parent, wish)
  const asChild = under(client, handle.handleToken)
  const start = async () => {
    const work = await workAsChild(asChild, handle.taskId)
    const { params, fencingToken } = work
    const report = async (tokens: number, sequence = 1) =>
      await call(asChild, reportUsage, {
        params,
        body: { fencingToken, ...input(tokens, sequence) },
      })
    return { ...work, report }
  }
  return { ...made, parent, handle, asChild, start }
}

describe('a child run', () => {
  it('spends from what its parent reserved', async () => {
    const { client, projectId, parent, handle, asChild, start } = await family({ maxTokens: 60 })
    assert.equal(handle.grant.maxTokens, 60)
    const child = await start()
    assert.equal(child.run.maxTokens, 60)
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 0, 100, 0]])

    assert.equal((await child.report(50)).tokensLeft, 10)
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 50, 50, 0]])
    assert.equal((await parent.report(input(45))).tokensLeft, 5)
    // Its own budget has 10 left, that of its parent 5.
    assert.equal((await child.report(5, 2)).tokensLeft, 0)
    for (const [holder, { params, fencingToken }] of [
      [client, parent],
      [asChild, child],
    ] as const) {
      const body = { fencingToken, action: 'tool.shell' }
      assert.equal(await codeOf(holder, recordAction, { params, body }), 'budget_exceeded')
    }
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 100, 0, 0]])
  })

  it('has no more than its parent has left, however little that has become', async () => {
    const { client, parent, handle, start } = await family()
    assert.equal(handle.grant.maxTokens, 100)
    await parent.report(input(90))
    const { run } = await start()
    assert.equal(run.maxTokens, 10)
    await assert.rejects(newChild(client, parent, { grant: { maxTokens: 11 } }), {
      code: 'child_grant_exceeds_parent',
      details: { violations: [{ path: 'maxTokens', child: 11, parent: 10 }], status: 422 },
    })
  })

  it('of a parent without a rest is not made, and does not start', async () => {
    const { client, parent, start } = await family()
    await parent.report(input(100))
    await assert.rejects(start(), { code: 'budget_exceeded' })
    await assert.rejects(newChild(client, parent), { code: 'child_grant_exceeds_parent' })
  })

  it('keeps what its parent reserved until it ends as well', async () => {
    const { client, projectId, parent, start } = await family({}, 'detach')
    const child = await start()
    await child.report(10)
    const { params, fencingToken } = parent
    await call(client, runs.succeedRun, { params, body: { fencingToken } })
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 10, 90, 0]])
    const end = { params: child.params, body: { reason: 'done' } }
    await call(client, runs.failRun, end)
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 10, 0, 90]])
  })

  it('that starts when its parent has ended reserves for itself', async () => {
    const { client, projectId, workspaceId, parent, start } = await family(
      { maxTokens: 30 },
      'detach',
    )
    const { params, fencingToken } = parent
    await call(client, runs.succeedRun, { params, body: { fencingToken } })
    await spendingRun(client, { workspaceId, maxTokens: 50 })
    const child = await start()
    assert.equal(child.run.maxTokens, 30)
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 0, 80, 20]])
  })
})
