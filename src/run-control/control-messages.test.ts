import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import type { ControlKind } from '#contract/control-messages.ts'
import {
  acknowledgeControlMessage,
  listControlMessages,
  sendControlMessage,
} from '#contract/control-messages.ts'
import { recordAction } from '#contract/run-actions.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import type { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { sharedDb } from '../../test/support/db.ts'
import { endLease, eventsOf } from '../../test/support/leases.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

async function startedRun(client: ClientOptions) {
  const { task, fence } = await claimedTask(client)
  const run = await call(client, runs.startRun, { params: { ref: task.id }, body: fence })
  return { task, run, params: { id: run.id }, ...fence }
}

/** Says something to the run as it is now. */
async function say(client: ClientOptions, runId: string, kind: ControlKind, message?: string) {
  const params = { id: runId }
  const { version: expectedRunVersion } = await call(client, runs.getRun, { params })
  const body = { kind, expectedRunVersion, ...(message !== undefined && { message }) }
  return await call(client, sendControlMessage, { params, idempotencyKey: newId(), body })
}

async function statuses(client: ClientOptions, runId: string): Promise<string[]> {
  const { items } = await call(client, listControlMessages, { params: { id: runId } })
  return items.map(({ status }) => status)
}

describe('a message to a running run', () => {
  it('says where the run was, and is acknowledged in order by its holder', async () => {
    const { client, tenant } = await admin()
    const { run, params, fencingToken } = await startedRun(client)
    await call(client, recordAction, { params, body: { fencingToken, action: 'tool.shell' } })
    const first = await say(client, run.id, 'queue', 'then the changelog')
    const second = await say(client, run.id, 'steer', 'use the new parser')

    assert.deepEqual([first.status, first.sequence, second.sequence], ['accepted', 1, 2])
    assert.deepEqual(first.causalPosition, {
      runVersion: 2,
      checkpointSequence: 0,
      actionSequence: 1,
    })
    const applied = { fencingToken, status: 'applied', safeBoundary: 'turn_end' } as const
    const acknowledge = (messageId: string, body: typeof applied | object) =>
      call(client, acknowledgeControlMessage, {
        params: { ...params, messageId },
        body: { fencingToken, status: 'rejected', ...body },
      })
    await assert.rejects(acknowledge(second.id, applied), {
      code: 'control_message_out_of_order',
      details: { nextMessageId: first.id, nextSequence: 1, status: 409 },
    })
    const done = await acknowledge(first.id, applied)
    assert.deepEqual([done.status, done.safeBoundary], ['applied', 'turn_end'])
    await assert.rejects(acknowledge(first.id, applied), { code: 'control_message_settled' })
    const rejected = await acknowledge(second.id, { note: 'there is no new parser' })
    assert.deepEqual([rejected.status, rejected.note], ['rejected', 'there is no new parser'])
    const journal = JSON.stringify(await eventsOf(db, tenant.ctx))
    assert.ok(journal.includes('control_message.settled'))
    assert.ok(!/changelog|parser/.test(journal), 'no text stands in the journal')
  })

  it('is refused to who does not know what happened since', async () => {
    const { client } = await admin()
    const { run, params } = await startedRun(client)
    const send = (message: string) =>
      call(client, sendControlMessage, {
        params,
        idempotencyKey: newId(),
        body: { kind: 'steer', message, expectedRunVersion: run.version },
      })

    const results = await Promise.allSettled([send('left'), send('right')])

    const codes = results.flatMap((result) =>
      result.status === 'rejected' ? [(result.reason as AppError).code] : [],
    )
    assert.deepEqual(codes, ['version_conflict'])
    assert.deepEqual(await statuses(client, run.id), ['accepted'])
  })

  it('that redirects takes the place of the directions not applied yet', async () => {
    const { client } = await admin()
    const { run } = await startedRun(client)
    await say(client, run.id, 'queue', 'one')
    await say(client, run.id, 'request_cancel')
    await say(client, run.id, 'steer', 'two')

    await say(client, run.id, 'redirect', 'something else')

    assert.deepEqual(await statuses(client, run.id), [
      'superseded',
      'accepted',
      'superseded',
      'accepted',
    ])
  })

  it('that asks to cancel marks the run', async () => {
    const { client } = await admin()
    const { run, params } = await startedRun(client)

    await say(client, run.id, 'request_cancel', 'not needed any more')

    const asked = await call(client, runs.getRun, { params })
    assert.equal(asked.status, 'running')
    assert.equal(asked.cancelRequestReason, 'not needed any more')
  })

  it('is superseded when the run ends before it is applied', async () => {
    const { client, tenant } = await admin()
    const { run, params, claimId, fencingToken } = await startedRun(client)
    const { id: messageId } = await say(client, run.id, 'queue', 'and then')
    await endLease(db, tenant.ctx, 'claims', claimId)
    await call(client, claims.reclaimClaim, { params: { id: claimId } })

    const query = { status: 'superseded' } as const
    const { items } = await call(client, listControlMessages, { params, query })
    const { finishedAt } = await call(client, runs.getRun, { params })
    assert.deepEqual(
      items.map((item) => [item.id, item.settledAt]),
      [[messageId, finishedAt]],
    )
    await assert.rejects(
      call(client, acknowledgeControlMessage, {
        params: { ...params, messageId },
        body: { fencingToken, status: 'rejected' },
      }),
      { code: 'stale_claim' },
    )
    await assert.rejects(say(client, run.id, 'queue', 'too late'), { code: 'run_not_active' })
  })

  it('needs a text unless it cancels, and a boundary exactly when it is applied', async () => {
    const { client } = await admin()
    const { run, params, fencingToken } = await startedRun(client)
    await assert.rejects(say(client, run.id, 'steer'), { code: 'invalid_request' })
    const { id: messageId } = await say(client, run.id, 'steer', 'left')
    for (const body of [
      { fencingToken, status: 'applied' },
      { fencingToken, status: 'rejected', safeBoundary: 'turn_end' },
    ] as const) {
      await assert.rejects(
        call(client, acknowledgeControlMessage, { params: { ...params, messageId }, body }),
        { code: 'invalid_request' },
      )
    }
    assert.deepEqual(await statuses(client, run.id), ['accepted'])
  })
})

describe('a forced cancel', () => {
  it('ends the run and shuts its holder out at once', async () => {
    const { client, tenant } = await admin()
    const { key } = await tenant.caller([
      'tasks.read',
      'tasks.write',
      'tasks.claim',
      'sessions.open',
    ])
    const worker = clientOf(key)
    const { task, run, params, claimId, fencingToken } = await startedRun(worker)
    await say(client, run.id, 'queue', 'then the changelog')

    const forced = await say(client, run.id, 'force_cancel', 'it is deleting things')

    assert.deepEqual([forced.status, forced.safeBoundary], ['applied', 'forced'])
    assert.deepEqual(await statuses(client, run.id), ['superseded', 'applied'])
    const after = await call(client, runs.getRun, { params })
    assert.deepEqual([after.status, after.reason], ['cancelled', 'force_cancelled'])
    const released = await call(client, tasks.getTask, { params: { ref: task.id } })
    assert.deepEqual([released.status, released.activeClaimId], ['open', null])
    const checkpoint = { fencingToken, kind: 'progress', data: {} }
    await assert.rejects(call(worker, runs.recordCheckpoint, { params, body: checkpoint }), {
      code: 'run_not_active',
    })
    await assert.rejects(
      call(worker, runs.startRun, {
        params: { ref: task.id },
        body: { claimId, fencingToken },
      }),
      { code: 'stale_claim' },
    )
  })

  it('is for who manages claims', async () => {
    const { client, tenant } = await admin()
    const { run, params } = await startedRun(client)
    const { key } = await tenant.caller(['tasks.read', 'tasks.write', 'tasks.claim'])

    await assert.rejects(say(clientOf(key), run.id, 'force_cancel'), {
      code: 'permission_denied',
      details: { required: 'claims.manage', status: 403 },
    })

    assert.equal((await call(client, runs.getRun, { params })).status, 'running')
  })
})

describe('the messages of a run', () => {
  it('are read on from any of them, and by no other cursor', async () => {
    const { client } = await admin()
    const { run, params } = await startedRun(client)
    for (const message of ['one', 'two', 'three']) await say(client, run.id, 'queue', message)
    const read = (query: { limit?: string; cursor?: string }) =>
      call(client, listControlMessages, { params, query })

    const page = await read({ limit: '2' })
    const rest = await read({ cursor: page.nextCursor ?? '' })
    assert.deepEqual(
      [...page.items, ...rest.items].map(({ message }) => message),
      ['one', 'two', 'three'],
    )
    assert.equal(rest.nextCursor, null)
    await say(client, run.id, 'queue', 'four')
    const later = await read({ cursor: rest.items.at(-1)?.cursor ?? '' })
    assert.deepEqual(
      later.items.map(({ message }) => message),
      ['four'],
    )
    const other = await startedRun(client)
    const foreign = await say(client, other.run.id, 'queue', 'elsewhere')
    await assert.rejects(read({ cursor: foreign.cursor }), { code: 'invalid_cursor' })
    await assert.rejects(read({ cursor: 'rc2_e30' }), { code: 'unsupported_cursor_version' })
  })
})
