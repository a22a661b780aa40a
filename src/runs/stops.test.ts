import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import { handOffRun, requestCancel, suspendRun } from '#contract/run-stops.ts'
import * as runs from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import { decodeCursor } from '#events/cursor.ts'
import { readEvents } from '#events/read.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'
import { waitFor } from '../../test/support/wait.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

async function startedRun(client: ClientOptions) {
  const { task, fence } = await claimedTask(client)
  const run = await call(client, runs.startRun, { params: { ref: task.id }, body: fence })
  const { fencingToken } = fence
  return { task, run, claimId: fence.claimId, fencingToken, params: { id: run.id } }
}

describe('a suspended run', () => {
  it('gives its task back, and the next run goes on', async () => {
    const { client, tenant } = await admin()
    const { task, claimId, fencingToken, params } = await startedRun(client)

    const body = { fencingToken, reason: 'the build farm is down' }
    const suspended = await call(client, suspendRun, { params, body })

    assert.deepEqual([suspended.status, suspended.reason], ['suspended', 'the build farm is down'])
    const claim = await call(client, claims.getClaim, { params: { id: claimId } })
    assert.deepEqual([claim.status, claim.endReason], ['released', 'run_suspended'])
    const after = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.deepEqual([after.status, after.activeClaimId], ['open', null])
    const types = (await eventsOf(db, tenant.ctx)).slice(-3).map(({ type }) => type)
    assert.deepEqual(types, ['run.suspended', 'claim.released', 'task.updated'])
    await assert.rejects(call(client, suspendRun, { params, body }), { code: 'run_not_active' })

    const { id: sessionId } = await call(client, openSession, { body: { clientName: 'test' } })
    const next = await call(client, claims.claimTask, {
      params: { ref: task.id },
      body: { sessionId },
    })
    const second = await call(client, runs.startRun, {
      params: { ref: task.id },
      body: { claimId: next.id, fencingToken: next.fencingToken },
    })
    assert.equal(second.attempt, 2)
  })

  it('waits for an approval that is there', async () => {
    const { client } = await admin()
    const { fencingToken, params } = await startedRun(client)
    const waitingForApprovalId = crypto.randomUUID()

    const body = { fencingToken, reason: 'sign-off', waitingForApprovalId }
    await assert.rejects(call(client, suspendRun, { params, body }), { code: 'not_found' })

    assert.equal((await call(client, runs.getRun, { params })).status, 'running')
  })
})

describe('a handoff', () => {
  const data = {
    summary: 'The parser is done, the printer is not.',
    nextSteps: ['write the printer'],
    evidenceRefs: ['commit 4f2a91c'],
  }

  it('is a last checkpoint and a suspension in one step, made once per key', async () => {
    const { client, tenant } = await admin()
    const { task, fencingToken, params } = await startedRun(client)
    const request = {
      params,
      idempotencyKey: 'once',
      body: { fencingToken, checkpoint: { data } },
    }

    const handoff = await call(client, handOffRun, request)

    assert.deepEqual(
      [handoff.run.status, handoff.run.reason],
      ['suspended', 'human_harness_handoff'],
    )
    assert.deepEqual([handoff.task.status, handoff.task.activeClaimId], ['open', null])
    assert.deepEqual([handoff.checkpoint.kind, handoff.checkpoint.data], ['handoff', data])
    assert.deepEqual(handoff.resume, {
      taskId: task.id,
      taskPublicId: task.publicId,
      nextAttempt: 2,
      checkpointId: handoff.checkpoint.id,
      claimPath: `/api/v1/tasks/${task.publicId}:claim`,
      startRunPath: `/api/v1/tasks/${task.publicId}:start-run`,
    })
    const before = (await eventsOf(db, tenant.ctx)).length
    const replayed = await send(client, handOffRun, request)
    assert.equal(replayed.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual(await replayed.json(), handoff)
    assert.equal((await eventsOf(db, tenant.ctx)).length, before)
    const after = decodeCursor(handoff.eventCursor)
    const told = ['run.checkpoint_recorded', 'run.suspended', 'claim.released', 'task.updated']
    // A transaction open elsewhere on the server may hold them back for a while.
    await waitFor(async () => {
      const { events } = await readEvents(db, tenant.ctx, { after, limit: 100 })
      const types: string[] = events.map(({ type }) => type)
      return told.every((type) => types.includes(type))
    })
  })

  it('needs a key', async () => {
    const { client } = await admin()
    const { fencingToken, params } = await startedRun(client)
    await assert.rejects(
      call(client, handOffRun, { params, body: { fencingToken, checkpoint: { data } } }),
      { code: 'idempotency_key_required' },
    )
  })

  for (const [what, summary, code] of [
    ['a path of the machine', 'see /home/ann/report.txt', 'invalid_request'],
    ['a credential', 'log in with ghp_0123456789abcdefghijABCDEFGHIJ', 'secret_refused'],
  ] as const) {
    it(`with ${what} is refused and changes nothing`, async () => {
      const { client, tenant } = await admin()
      const { fencingToken, params } = await startedRun(client)
      const before = await eventsOf(db, tenant.ctx)

      const response = await send(client, handOffRun, {
        params,
        idempotencyKey: 'x',
        body: { fencingToken, checkpoint: { data: { ...data, summary } } },
      })

      const text = await response.text()
      const { error } = JSON.parse(text) as { error: { code: string } }
      assert.equal(error.code, code)
      assert.ok(text.includes('body.checkpoint.data.summary'), text)
      assert.ok(!text.includes('home') && !text.includes('ghp_'), 'the value is not echoed')
      assert.deepEqual([...(await eventsOf(db, tenant.ctx))], [...before])
      assert.equal((await call(client, runs.getRun, { params })).status, 'running')
    })
  }
})

describe('a request to cancel', () => {
  it('is seen by the holder, who goes on until it stops the run', async () => {
    const { client, tenant } = await admin()
    const { fencingToken, params } = await startedRun(client)
    const { key } = await tenant.caller(['tasks.write'])

    const asked = await call(clientOf(key), requestCancel, {
      params,
      body: { reason: 'not needed any more' },
    })

    assert.equal(asked.status, 'running')
    assert.notEqual(asked.cancelRequestedAt, null)
    assert.equal(asked.cancelRequestReason, 'not needed any more')
    const again = await call(clientOf(key), requestCancel, { params, body: { reason: 'hurry' } })
    assert.deepEqual(again, asked, 'the first request stays')
    const requested = (await eventsOf(db, tenant.ctx)).filter(
      ({ type }) => type === 'run.cancel_requested',
    )
    assert.equal(requested.length, 1)
    const checkpoint = { fencingToken, kind: 'progress', data: {} }
    await call(client, runs.recordCheckpoint, { params, body: checkpoint })
    const cancelled = await call(client, runs.cancelRun, { params, body: { reason: 'as asked' } })
    assert.equal(cancelled.status, 'cancelled')
    await assert.rejects(call(clientOf(key), requestCancel, { params }), {
      code: 'run_not_active',
    })
  })
})

describe('the version of a run', () => {
  it('travels as its ETag', async () => {
    const { client } = await admin()
    const { run, params } = await startedRun(client)
    const response = await send(client, runs.getRun, { params })
    assert.equal(response.headers.get('etag'), `"run-${run.version}"`)
  })
})
