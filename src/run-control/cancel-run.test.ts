import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getChildHandle } from '#contract/child-handles.ts'
import { sendControlMessage } from '#contract/control-messages.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import { newId } from '#lib/id.ts'
import { newChild, parentRun, under, workAsChild } from '../../test/support/children.ts'
import { sharedDb } from '../../test/support/db.ts'
import { workClients } from '../../test/support/work.ts'

const { admin } = workClients(await sharedDb())

async function statusOf(client: ClientOptions, id: string): Promise<string> {
  return (await call(client, getChildHandle, { params: { id } })).status
}

describe('cancelling a run', () => {
  for (const how of ['by its holder', 'by force'] as const) {
    it(`${how} asks its children to stop, and lets go those made to outlive it`, async () => {
      const { client } = await admin()
      const parent = await parentRun(client)
      const working = await newChild(client, parent)
      const waiting = await newChild(client, parent)
      const detached = await newChild(client, parent, { cancellationPolicy: 'detach' })
      const child = under(client, working.handleToken)
      const { params } = await workAsChild(child, working.taskId)
      const free = under(client, detached.handleToken)
      const own = await workAsChild(free, detached.taskId)

      if (how === 'by its holder') await call(client, runs.cancelRun, { params: parent.params })
      else await forceCancel(client, parent.run.id)

      const asked = await call(client, runs.getRun, { params })
      assert.deepEqual([asked.status, asked.cancelRequestReason], ['running', 'parent_cancelled'])
      assert.equal(await statusOf(client, waiting.id), 'revoked')
      const left = await call(client, tasks.getTask, { params: { ref: waiting.taskId } })
      assert.equal(left.status, 'cancelled', 'nobody could claim it any more')
      const kept = await call(client, runs.getRun, { params: own.params })
      assert.deepEqual([kept.status, kept.cancelRequestedAt], ['running', null])
    })
  }
})

async function forceCancel(client: ClientOptions, id: string): Promise<void> {
  const { version } = await call(client, runs.getRun, { params: { id } })
  await call(client, sendControlMessage, {
    params: { id },
    idempotencyKey: newId(),
    body: { kind: 'force_cancel', expectedRunVersion: version },
  })
}
