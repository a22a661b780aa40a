import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { createChildHandle, listChildHandles } from '#contract/child-handles.ts'
import { acknowledgeControlMessage, sendControlMessage } from '#contract/control-messages.ts'
import { finishAction, listActions, recordAction } from '#contract/run-actions.ts'
import { handOffRun } from '#contract/run-stops.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import { newId } from '#lib/id.ts'
import { CHILD_RIGHTS, parentRun } from '../../test/support/children.ts'
import { sharedDb } from '../../test/support/db.ts'
import { outcomes, times } from '../../test/support/outcomes.ts'
import { workClients } from '../../test/support/work.ts'

const { admin } = workClients(await sharedDb())

describe('at the same moment', () => {
  it('no more actions are recorded than the budget allows', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await parentRun(client, { maxActions: 3 })
    const body = { fencingToken, action: 'tool.shell' }

    const counts = await outcomes(times(10, () => call(client, recordAction, { params, body })))

    assert.deepEqual(counts, { ok: 3, budget_exceeded: 7 })
    const { items } = await call(client, listActions, { params })
    assert.deepEqual(
      items.map(({ sequence }) => sequence),
      [1, 2, 3],
    )
  })

  it('an action is finished once', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await parentRun(client)
    const { id: actionId } = await call(client, recordAction, {
      params,
      body: { fencingToken, action: 'deploy' },
    })
    const finish = (status: 'succeeded' | 'failed') =>
      call(client, finishAction, {
        params: { ...params, actionId },
        body: { fencingToken, status },
      })

    const counts = await outcomes(
      times(8, (index) => finish(index % 2 === 0 ? 'succeeded' : 'failed')),
    )

    assert.deepEqual(counts, { ok: 1, action_already_finished: 7 })
  })

  it('a run is ended once, however it is tried', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await parentRun(client)
    const { version: expectedRunVersion } = await call(client, runs.getRun, { params })
    const handOff = () =>
      call(client, handOffRun, {
        params,
        idempotencyKey: newId(),
        body: { fencingToken, checkpoint: { data: { summary: 'half done' } } },
      })
    const force = () =>
      call(client, sendControlMessage, {
        params,
        idempotencyKey: newId(),
        body: { kind: 'force_cancel', expectedRunVersion },
      })

    const { ok } = await outcomes([
      handOff(),
      force(),
      call(client, runs.succeedRun, { params, body: { fencingToken } }),
      call(client, runs.failRun, { params, body: { reason: 'broken' } }),
      call(client, runs.cancelRun, { params }),
      handOff(),
    ])

    assert.equal(ok, 1)
    assert.notEqual((await call(client, runs.getRun, { params })).status, 'running')
  })

  it('a message is acknowledged once', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await parentRun(client)
    const { version: expectedRunVersion } = await call(client, runs.getRun, { params })
    const { id: messageId } = await call(client, sendControlMessage, {
      params,
      idempotencyKey: newId(),
      body: { kind: 'steer', message: 'left', expectedRunVersion },
    })
    const acknowledge = () =>
      call(client, acknowledgeControlMessage, {
        params: { ...params, messageId },
        body: { fencingToken, status: 'rejected' },
      })

    const counts = await outcomes(times(6, acknowledge))

    assert.deepEqual(counts, { ok: 1, control_message_settled: 5 })
  })

  it('a child is made once for its correlation id', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await parentRun(client)
    const make = async () => {
      const { id, handleToken } = await call(client, createChildHandle, {
        params,
        idempotencyKey: newId(),
        body: {
          fencingToken,
          correlationId: 'tests',
          title: 'Write the tests',
          grant: { permissions: CHILD_RIGHTS },
        },
      })
      return { id, shown: handleToken !== null }
    }

    const made = await Promise.all(times(12, make))

    assert.equal(new Set(made.map(({ id }) => id)).size, 1)
    assert.equal(made.filter(({ shown }) => shown).length, 1)
    assert.equal((await call(client, listChildHandles, { params })).items.length, 1)
    assert.equal((await call(client, tasks.listTasks, {})).items.length, 2)
  })

  it('a parent is cancelled with every child that was made for it', async () => {
    const { client } = await admin()
    const { params, fencingToken } = await parentRun(client)
    const make = () =>
      call(client, createChildHandle, {
        params,
        idempotencyKey: newId(),
        body: {
          fencingToken,
          correlationId: newId(),
          title: 'Write the tests',
          grant: { permissions: CHILD_RIGHTS },
        },
      })

    const counts = await outcomes([
      ...times(4, make),
      call(client, runs.cancelRun, { params }),
      ...times(4, make),
    ])

    const { items } = await call(client, listChildHandles, { params })
    assert.equal(items.length, (counts['ok'] ?? 0) - 1)
    assert.deepEqual(
      items.filter(({ status }) => status !== 'revoked'),
      [],
    )
  })
})
