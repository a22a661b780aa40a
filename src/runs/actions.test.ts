import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { finishAction, listActions, recordAction } from '#contract/run-actions.ts'
import { handOffRun } from '#contract/run-stops.ts'
import * as runs from '#contract/runs.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin } = workClients(db)

async function startedRun(
  client: ClientOptions,
  budget: { maxActions?: number; maxDurationSeconds?: number } = {},
) {
  const { task, fence } = await claimedTask(client)
  const { fencingToken } = fence
  const body = { ...fence, ...budget }
  const run = await call(client, runs.startRun, { params: { ref: task.id }, body })
  return { task, run, params: { id: run.id }, fencingToken }
}

describe('actions of a run', () => {
  it('are written before and after their effect, and finished once', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await startedRun(client)

    const begun = await call(client, recordAction, {
      params,
      body: { fencingToken, action: 'tool.deploy', skill: 'deploy', metadata: { to: 'test' } },
    })
    assert.deepEqual([begun.sequence, begun.status, begun.finishedAt], [1, 'started', null])
    const finish = {
      params: { ...params, actionId: begun.id },
      body: {
        fencingToken,
        status: 'succeeded',
        externalReference: 'job-17',
        metadata: { url: 'https://example.org/17' },
      },
    } as const
    const done = await call(client, finishAction, finish)
    assert.deepEqual(
      [done.status, done.externalReference, done.metadata],
      ['succeeded', 'job-17', { to: 'test', url: 'https://example.org/17' }],
    )
    await assert.rejects(call(client, finishAction, finish), {
      code: 'action_already_finished',
      details: { actionStatus: 'succeeded', finishedAt: done.finishedAt, status: 409 },
    })
    const failed = await call(client, recordAction, {
      params,
      body: { fencingToken, action: 'tool.shell', status: 'failed' },
    })
    assert.notEqual(failed.finishedAt, null)
    assert.deepEqual((await call(client, listActions, { params })).items, [done, failed])
  })

  it('are listed oldest first, whole unless a page is asked for, and by status', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await startedRun(client)
    for (const action of ['first', 'second', 'third']) {
      await call(client, recordAction, { params, body: { fencingToken, action } })
    }

    const all = await call(client, listActions, { params })
    assert.deepEqual(
      all.items.map(({ action, sequence }) => [action, sequence]),
      [
        ['first', 1],
        ['second', 2],
        ['third', 3],
      ],
    )
    const page = await call(client, listActions, { params, query: { limit: '2' } })
    const query = { cursor: page.nextCursor ?? '' }
    const rest = await call(client, listActions, { params, query })
    assert.deepEqual([...page.items, ...rest.items], all.items)
    await assert.rejects(call(client, runs.listCheckpoints, { params, query }), {
      code: 'invalid_cursor',
    })
    const none = await call(client, listActions, { params, query: { status: 'failed' } })
    assert.deepEqual(none.items, [])
  })

  it('leave no event, and are no version of the run', async () => {
    const { client, tenant } = await admin()
    const { run, params, fencingToken } = await startedRun(client)
    const before = await eventsOf(db, tenant.ctx)

    await call(client, recordAction, { params, body: { fencingToken, action: 'tool.shell' } })

    assert.equal((await eventsOf(db, tenant.ctx)).length, before.length)
    const after = await call(client, runs.getRun, { params })
    assert.deepEqual([after.version, after.actionCount], [run.version, 1])
  })

  it('hold no credential', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await startedRun(client)
    const metadata = { env: { password: 'correct horse battery' } }

    await assert.rejects(
      call(client, recordAction, { params, body: { fencingToken, action: 'x', metadata } }),
      {
        code: 'secret_refused',
        details: { pointer: 'body.metadata.env.password', kind: 'sensitive_key', status: 422 },
      },
    )
    assert.deepEqual((await call(client, listActions, { params })).items, [])
  })
})

describe('a budget', () => {
  it('of actions is enforced, and is in the way of no end', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await startedRun(client, { maxActions: 1 })
    const body = { fencingToken, action: 'tool.shell' }
    const { id: actionId } = await call(client, recordAction, { params, body })

    await assert.rejects(call(client, recordAction, { params, body }), {
      code: 'budget_exceeded',
      details: { budget: 'maxActions', limit: 1, used: 1, status: 409 },
    })

    await call(client, finishAction, {
      params: { ...params, actionId },
      body: { fencingToken, status: 'succeeded' },
    })
    const checkpoint = { fencingToken, kind: 'progress', data: {} }
    await call(client, runs.recordCheckpoint, { params, body: checkpoint })
    const done = await call(client, runs.succeedRun, { params, body: { fencingToken } })
    assert.deepEqual([done.status, done.actionCount], ['succeeded', 1])
  })

  it('of time is enforced by the clock of the database, and is in the way of no end', async () => {
    const { client, tenant } = await admin()
    const { params, fencingToken } = await startedRun(client, { maxDurationSeconds: 60 })
    const action = { fencingToken, action: 'tool.shell' }
    const { id: actionId } = await call(client, recordAction, { params, body: action })
    await db`
      update runs
      set created_at = created_at - interval '61 seconds'
      where tenant_id = ${tenant.ctx.tenantId}
        and id = ${params.id}`

    const exceeded = { code: 'budget_exceeded' }
    await assert.rejects(call(client, recordAction, { params, body: action }), exceeded)
    const checkpoint = { fencingToken, kind: 'progress', data: {} }
    await assert.rejects(
      call(client, runs.recordCheckpoint, { params, body: checkpoint }),
      exceeded,
    )

    await call(client, finishAction, {
      params: { ...params, actionId },
      body: { fencingToken, status: 'failed' },
    })
    const handoff = await call(client, handOffRun, {
      params,
      idempotencyKey: 'handoff',
      body: { fencingToken, checkpoint: { data: { summary: 'out of time' } } },
    })
    assert.equal(handoff.run.status, 'suspended')
  })
})
