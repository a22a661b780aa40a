import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getPrincipalBudget, updatePrincipalBudget } from '#contract/budgets.ts'
import type { SpendingBounds } from '#contract/budgets.ts'
import { createApiKey } from '#contract/org.ts'
import { createPriceTable } from '#contract/price-tables.ts'
import { recordAction } from '#contract/run-actions.ts'
import * as runs from '#contract/runs.ts'
import type { AppError } from '#lib/errors.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { projectsOf } from '../../test/support/projects.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import { input, projectWith, spendingRun, stateOf } from '../../test/support/usage.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const clients = workClients(db)
const { admin, clientOf } = clients

async function setOwn(client: ClientOptions, id: string, budget: Partial<SpendingBounds>) {
  const { version: ifMatch } = await call(client, getPrincipalBudget, { params: { id } })
  return await call(client, updatePrincipalBudget, { params: { id }, ifMatch, body: budget })
}

describe('the budget of a run', () => {
  it('is the smallest of what is asked for, what the project and what the principal allow', async () => {
    const { ctx, client, workspaceId } = await projectWith(db, clients, {
      maxRunTokens: 500,
      maxRunCost: '2.00',
    })
    const limits = async (asked: object) => {
      const { run } = await spendingRun(client, { workspaceId, ...asked })
      return [run.maxTokens, run.maxCost, run.tokensLeft, run.costLeft]
    }
    assert.deepEqual(await limits({}), [500, '2', 500, '2'])
    assert.deepEqual(await limits({ maxTokens: 80, maxCost: '10' }), [80, '2', 80, '2'])
    await setOwn(client, ctx.actorId, { maxRunTokens: 300, maxRunCost: '0.50' })
    assert.deepEqual(await limits({ maxTokens: 400 }), [300, '0.5', 300, '0.5'])
  })

  it('that is used up refuses more work, asks the run to stop and lets it end', async () => {
    const { tenant, client } = await admin()
    const { params, fencingToken, report } = await spendingRun(client, { maxTokens: 100 })
    const act = async () =>
      await codeOf(client, recordAction, { params, body: { fencingToken, action: 'tool.shell' } })
    const before = await report(input(99))
    assert.deepEqual([before.tokensLeft, before.usedUp, await act()], [1, [], 'ok'])

    const after = await report(input(50, 2))
    assert.deepEqual([after.tokensLeft, after.usedUp], [0, ['maxTokens']])
    await assert.rejects(
      call(client, recordAction, { params, body: { fencingToken, action: 'tool.shell' } }),
      {
        code: 'budget_exceeded',
        details: { budget: 'maxTokens', limit: 100, used: 149, status: 409 },
      },
    )
    const asked = await call(client, runs.getRun, { params })
    assert.equal(asked.cancelRequestReason, 'budget_exceeded')
    await report(input(5, 3))
    const checkpoint = { fencingToken, kind: 'progress', data: {} }
    assert.equal(await codeOf(client, runs.recordCheckpoint, { params, body: checkpoint }), 'ok')
    const done = await call(client, runs.succeedRun, { params, body: { fencingToken } })
    assert.deepEqual([done.status, done.usage.totalTokens], ['succeeded', 154])
    const requests = (await eventsOf(db, tenant.ctx)).filter(
      ({ type }) => type === 'run.cancel_requested',
    )
    assert.deepEqual(
      requests.map(({ payload }) => payload['budget']),
      ['maxTokens'],
    )
  })

  it('in money goes by what was priced', async () => {
    const { client } = await admin()
    const entries = [{ model: 'large', input: '10', output: '0' }]
    await call(client, createPriceTable, { body: { currency: 'EUR', entries } })
    const { report } = await spendingRun(client, { maxCost: '0.0005' })
    const unpriced = await report({ sequence: 1, lines: [{ model: 'other', input: 1000 }] })
    assert.deepEqual([unpriced.costLeft, unpriced.usage.unpricedTokens], ['0.0005', 1000])
    assert.equal((await report(input(49, 2))).costLeft, '0.00001')
    const { costLeft, usedUp } = await report(input(1, 3))
    assert.deepEqual([costLeft, usedUp], ['0', ['maxCost']])
  })

  it('must be more than nothing', async () => {
    const { client } = await admin()
    const { task, fence } = await claimedTask(client)
    for (const wrong of [
      { maxTokens: 0 },
      { maxCost: '0.00' },
      { maxCost: '-1' },
      { maxCost: 1 },
    ]) {
      const given = { params: { ref: task.id }, body: { ...fence, ...wrong } }
      assert.equal(await codeOf(client, runs.startRun, given as never), 'invalid_request')
    }
  })
})

describe('a bound over all runs', () => {
  it('is never overshot by twenty that start at once', async () => {
    const { client, workspaceId, projectId } = await projectWith(db, clients, {
      maxTotalTokens: 100,
    })
    const ready = await Promise.all(
      Array.from({ length: 20 }, () => claimedTask(client, { workspaceId })),
    )
    const results = await Promise.allSettled(
      ready.map(({ task, fence }) =>
        call(client, runs.startRun, {
          params: { ref: task.id },
          body: { ...fence, maxTokens: 30 },
        }),
      ),
    )
    const codes = results.map((result) =>
      result.status === 'fulfilled' ? 'started' : (result.reason as AppError).code,
    )
    assert.equal(codes.filter((code) => code === 'started').length, 3)
    assert.equal(codes.filter((code) => code === 'budget_exceeded').length, 17)
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 0, 90, 10]])
  })

  it('tells which it was, and how it stands', async () => {
    const { client, workspaceId, projectId } = await projectWith(db, clients, {
      maxMonthTokens: 1000,
      maxTotalTokens: 100,
    })
    const { report } = await spendingRun(client, { workspaceId, maxTokens: 60 })
    await report(input(20))
    await assert.rejects(spendingRun(client, { workspaceId, maxTokens: 50 }), {
      code: 'budget_exceeded',
      details: {
        budget: 'maxTotalTokens',
        scope: 'project',
        projectId,
        limit: 100,
        used: 20,
        reserved: 40,
        left: 40,
        asked: 50,
        status: 409,
      },
    })
  })

  it('gives a run that asks for nothing all that is left', async () => {
    const { client, workspaceId } = await projectWith(db, clients, {
      maxTotalTokens: 100,
      maxMonthCost: '3',
    })
    await spendingRun(client, { workspaceId, maxTokens: 30, maxCost: '1' })
    const { run } = await spendingRun(client, { workspaceId })
    assert.deepEqual([run.maxTokens, run.maxCost], [70, '2'])
    assert.equal(await codeOfStart(client, workspaceId), 'budget_exceeded')
  })

  it('holds below the project too, and above it what is bounded there', async () => {
    const { client, tree, workspaceId } = await projectWith(db, clients, { maxTotalTokens: 100 })
    const lower = await tree.place(workspaceId, { config: { governance: { maxTotalTokens: 40 } } })
    const below = await tree.addWorkspace(lower.workspaceId)
    const { report } = await spendingRun(client, { workspaceId: below, maxTokens: 40 })
    await report(input(40))
    assert.equal(await codeOfStart(client, lower.workspaceId, 1), 'budget_exceeded')
    await spendingRun(client, { workspaceId, maxTokens: 60 })
    assert.equal(await codeOfStart(client, workspaceId, 1), 'budget_exceeded')
    assert.deepEqual(await stateOf(client, lower.project.id), [
      ['maxTotalTokens', 100, 40, 60, 0],
      ['maxTotalTokens', 40, 40, 0, 0],
    ])
  })

  it('of 0 stops new runs', async () => {
    const { client, workspaceId } = await projectWith(db, clients, { maxMonthCost: '0' })
    assert.equal(await codeOfStart(client, workspaceId), 'budget_exceeded')
  })

  it('counts what was used over, and leaves nothing for others', async () => {
    const { client, workspaceId, projectId } = await projectWith(db, clients, {
      maxTotalTokens: 100,
    })
    const { params, report } = await spendingRun(client, { workspaceId, maxTokens: 10 })
    await report(input(130))
    assert.deepEqual(await stateOf(client, projectId), [['maxTotalTokens', 100, 130, 0, 0]])
    await call(client, runs.failRun, { params, body: { reason: 'over' } })
    assert.equal(await codeOfStart(client, workspaceId, 1), 'budget_exceeded')
  })

  it('of a principal is over all its runs, wherever they are', async () => {
    const { tenant, client } = await admin()
    const agent = await tenant.caller(['tasks.claim', 'tasks.read', 'tasks.write', 'sessions.open'])
    const own = clientOf(agent.key)
    await setOwn(client, agent.ctx.actorId, { maxMonthTokens: 50 })
    const tree = projectsOf(db, tenant.ctx)
    await spendingRun(own, { maxTokens: 30 })
    const elsewhere = { workspaceId: await tree.addWorkspace(), maxTokens: 30 }
    await assert.rejects(spendingRun(own, elsewhere), (error: AppError) => {
      const { budget, scope, principalId } = error.details
      assert.deepEqual(
        [error.code, budget, scope, principalId],
        ['budget_exceeded', 'maxMonthTokens', 'principal', agent.ctx.actorId],
      )
      return true
    })
    await spendingRun(client, { maxTokens: 30 })
  })

  it('above the reach of a key is named without what others used there', async () => {
    const { ctx, client, tree, workspaceId } = await projectWith(db, clients, {
      maxTotalTokens: 10,
    })
    const inner = await tree.place(workspaceId, { config: { governance: { maxRunTokens: 100 } } })
    const { key } = await call(client, createApiKey, {
      params: { id: ctx.actorId },
      body: {
        name: 'limited',
        permissions: [
          'tasks.claim',
          'tasks.write',
          'tasks.read',
          'sessions.open',
          'accounting.read',
          'projects.read',
        ],
        workspaceId: inner.workspaceId,
      },
    })
    const limited = clientOf(key ?? '')
    await assert.rejects(spendingRun(limited, { workspaceId: inner.workspaceId, maxTokens: 20 }), {
      code: 'budget_exceeded',
      details: { budget: 'maxTotalTokens', scope: 'project', asked: 20, status: 409 },
    })
    assert.deepEqual(await stateOf(limited, inner.project.id), [])
  })
})

async function codeOfStart(client: ClientOptions, workspaceId: string, maxTokens?: number) {
  const { task, fence } = await claimedTask(client, { workspaceId })
  const body = maxTokens === undefined ? fence : { ...fence, maxTokens }
  return await codeOf(client, runs.startRun, { params: { ref: task.id }, body })
}

describe('the budget of a principal', () => {
  it('is changed bound by bound, and seen by itself and by who may read accounts', async () => {
    const { tenant, client } = await admin()
    const agent = await tenant.caller(['accounting.manage'])
    const own = clientOf(agent.key)
    const params = { id: agent.ctx.actorId }
    await setOwn(client, params.id, { maxRunCost: '1.50', maxMonthTokens: 10 })
    const { budget, version, caps } = await setOwn(client, params.id, { maxRunCost: null })
    assert.deepEqual([budget.maxRunCost, budget.maxMonthTokens, caps.length], [null, 10, 1])
    assert.equal((await setOwn(client, params.id, { maxMonthTokens: 10 })).version, version)

    assert.equal((await call(own, getPrincipalBudget, { params })).version, version)
    const other = { params: { id: tenant.ctx.actorId } }
    assert.equal(await codeOf(own, getPrincipalBudget, other), 'permission_denied')
    const more = { params, ifMatch: version, body: { maxMonthTokens: 1000 } }
    assert.equal(await codeOf(own, updatePrincipalBudget, more), 'permission_denied')
    const stale = { params, ifMatch: version - 1, body: { maxMonthTokens: 5 } }
    assert.equal(await codeOf(client, updatePrincipalBudget, stale), 'version_conflict')
    const events = (await eventsOf(db, tenant.ctx)).filter(
      ({ type, entityId }) => type === 'principal.updated' && entityId === params.id,
    )
    assert.deepEqual(
      events.map(({ payload }) => payload),
      [2, 3].map((number) => ({ changes: ['budget'], version: number })),
    )
  })
})
