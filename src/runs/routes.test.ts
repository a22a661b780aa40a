import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const { admin } = workClients(await sharedDb())

describe('runs', () => {
  it('start, record how far they are, and complete the task', async () => {
    const { client } = await admin()
    const { task, claim, fence } = await claimedTask(client)
    const { fencingToken } = fence

    const run = await call(client, runs.startRun, {
      params: { ref: task.id },
      body: { ...fence, input: { branch: 'main' }, model: 'small', maxActions: 5 },
    })
    assert.equal(run.attempt, 1)
    assert.deepEqual(run.input, { branch: 'main' })
    const params = { id: run.id }
    await assert.rejects(call(client, runs.startRun, { params: { ref: task.id }, body: fence }), {
      code: 'run_already_active',
    })
    for (const step of [1, 2, 3]) {
      const body = { fencingToken, kind: 'progress', data: { step } }
      const { sequence } = await call(client, runs.recordCheckpoint, { params, body })
      assert.equal(sequence, step)
    }
    const all = await call(client, runs.listCheckpoints, { params })
    assert.deepEqual(
      all.items.map((item) => item.data),
      [{ step: 1 }, { step: 2 }, { step: 3 }],
    )
    const first = await call(client, runs.listCheckpoints, { params, query: { limit: '2' } })
    const cursor = first.nextCursor ?? ''
    const rest = await call(client, runs.listCheckpoints, { params, query: { cursor } })
    assert.deepEqual([...first.items, ...rest.items], all.items)
    await assert.rejects(
      call(client, claims.releaseClaim, { params: { id: claim.id }, body: { fencingToken } }),
      { code: 'run_in_progress' },
    )
    await assert.rejects(
      call(client, tasks.completeTask, { params: { ref: task.id }, ifMatch: 2, body: fence }),
      { code: 'run_in_progress' },
    )

    const done = await call(client, runs.succeedRun, {
      params,
      body: { fencingToken, output: { pages: 3 }, completeTask: true },
    })
    assert.deepEqual([done.status, done.output], ['succeeded', { pages: 3 }])
    const after = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.deepEqual([after.status, after.activeClaimId], ['completed', null])
    await assert.rejects(call(client, runs.succeedRun, { params, body: { fencingToken } }), {
      code: 'run_not_active',
    })
  })

  it('fail and are cancelled without touching the task, and are numbered on', async () => {
    const { client } = await admin()
    const { task, fence } = await claimedTask(client)
    const start = () => call(client, runs.startRun, { params: { ref: task.publicId }, body: fence })

    const first = await start()
    const failed = await call(client, runs.failRun, {
      params: { id: first.id },
      body: { reason: 'the compiler crashed' },
    })
    const second = await start()
    const cancelled = await call(client, runs.cancelRun, { params: { id: second.id } })

    assert.deepEqual([failed.status, failed.reason], ['failed', 'the compiler crashed'])
    assert.deepEqual([cancelled.status, cancelled.attempt], ['cancelled', 2])
    const after = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.deepEqual([after.status, after.activeClaimId], ['in_progress', fence.claimId])
    const list = await call(client, runs.listRuns, { query: { taskId: task.publicId } })
    assert.deepEqual(
      list.items.map((run) => run.attempt),
      [2, 1],
    )
    await assert.rejects(
      call(client, runs.failRun, { params: { id: first.id }, body: { reason: 'again' } }),
      { code: 'run_not_active' },
    )
  })
})
