import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getContext, getHarnessContext } from '#contract/context.ts'
import { getRunContext } from '#contract/run-context.ts'
import { startRun } from '#contract/runs.ts'
import {
  approvalTenant,
  changeTask,
  decide,
  newRole,
  newTaskId,
} from '../../test/support/approvals.ts'
import { testClient } from '../../test/support/client.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow } from '../../test/support/leases.ts'
import { wholeApp } from '../../test/support/whole.ts'

const db = await sharedDb()
const app = wholeApp(db, null)

const asWhole = ({ token }: ClientOptions) => testClient(app, token ?? '')

async function pendingFor({ client }: { client: ClientOptions }) {
  const harness = await call(asWhole(client), getHarnessContext)
  const { operational } = await call(asWhole(client), getContext, { body: {} })
  assert.deepEqual(operational.pendingApprovals, harness.pendingApprovals)
  return harness.pendingApprovals
}

describe('the approvals that a context holds', () => {
  it('are those that the caller may decide', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const requiredRoleId = await newRole(client, [person.id])
    const taskId = await newTaskId(client)
    const byRole = await ask({ taskId, requiredRoleId, comment: 'Well?' })
    const byName = await ask({ taskId, gate: true })
    await decide(person, 'approve', (await ask({ taskId })).id)
    await changeTask(client, taskId, { title: 'Pay out at once' })

    const view = { taskId, artifactId: null, stale: true }
    assert.deepEqual(await pendingFor(person), [
      { ...view, id: byName.id, gate: true, comment: null, createdAt: byName.createdAt },
      { ...view, id: byRole.id, gate: false, comment: 'Well?', createdAt: byRole.createdAt },
    ])
    assert.deepEqual(await pendingFor(agent), [])
  })

  it('of a run are those of its task, for who may read approvals', async () => {
    const { client, agent, add, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const { id: claimId, fencingToken } = await claimNow(db, agent.ctx, { ref: taskId })
    const run = await call(agent.client, startRun, {
      params: { ref: taskId },
      body: { claimId, fencingToken },
    })
    const { id } = await ask({ taskId })
    await ask({ taskId: await newTaskId(client) })
    const read = async (of: { client: ClientOptions }) => {
      const context = await call(asWhole(of.client), getRunContext, { params: { id: run.id } })
      return context.pendingApprovals.map((approval) => approval.id)
    }
    assert.deepEqual(await read(agent), [id])
    assert.deepEqual(await read(await add(['tasks.read'], 'agent')), [])
  })
})
