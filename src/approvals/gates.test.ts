import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as approvals from '#contract/approvals.ts'
import * as claims from '#contract/claims.ts'
import { suspendRun } from '#contract/run-stops.ts'
import * as runs from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import * as tasks from '#contract/tasks.ts'
import {
  approvalTenant,
  changeTask,
  decide,
  DECIDES,
  newRevision,
  newTaskId,
} from '../../test/support/approvals.ts'
import { sharedDb } from '../../test/support/db.ts'

const db = await sharedDb()

/** What a task lets the client do now, asked in every way there is. */
async function seen(client: ClientOptions, ref: string) {
  const { claimable, reasons } = await call(client, tasks.getClaimability, { params: { ref } })
  const { items } = await call(client, tasks.listAvailableWork)
  return { claimable, reasons, offered: items.some(({ id }) => id === ref) }
}

const CLOSED = { claimable: false, reasons: ['approval_required'], offered: false }
const OPEN = { claimable: true, reasons: [], offered: true }

async function claimIt(client: ClientOptions, ref: string) {
  const { id: sessionId } = await call(client, openSession, { body: { clientName: 'test' } })
  const claim = await call(client, claims.claimTask, { params: { ref }, body: { sessionId } })
  return { claimId: claim.id, fencingToken: claim.fencingToken }
}

async function complete(client: ClientOptions, ref: string, fence: object = {}) {
  const { version } = await call(client, tasks.getTask, { params: { ref } })
  return await call(client, tasks.completeTask, { params: { ref }, ifMatch: version, body: fence })
}

describe('a gate', () => {
  it('keeps a task from being claimed, offered and completed until it is decided', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    assert.deepEqual(await seen(agent.client, taskId), OPEN)

    const { id: approvalId } = await ask({ taskId, gate: true })

    assert.deepEqual(await seen(agent.client, taskId), CLOSED)
    const details = { gates: [{ approvalId, status: 'pending', stale: false }], status: 409 }
    const refused = { code: 'approval_required', details }
    await assert.rejects(claimIt(agent.client, taskId), refused)
    await assert.rejects(complete(agent.client, taskId), refused)
    await decide(person, 'approve', approvalId)
    assert.deepEqual(await seen(agent.client, taskId), OPEN)
    const fence = await claimIt(agent.client, taskId)
    assert.equal((await complete(agent.client, taskId, fence)).status, 'completed')
  })

  it('that is raised while a task is held lets the work go on, but not be completed', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const fence = await claimIt(agent.client, taskId)
    const start = { params: { ref: taskId }, body: fence }
    const { id } = await call(agent.client, runs.startRun, start)
    const gate = await ask({ taskId, gate: true, ...fence })
    const { fencingToken } = fence
    const params = { id }

    const checkpoint = { fencingToken, kind: 'progress', data: {} }
    await call(agent.client, runs.recordCheckpoint, { params, body: checkpoint })
    const body = { fencingToken, completeTask: true }
    const succeed = () => call(agent.client, runs.succeedRun, { params, body })
    await assert.rejects(succeed(), { code: 'approval_required' })
    assert.equal((await call(client, runs.getRun, { params })).status, 'running')
    await decide(person, 'approve', gate.id)
    assert.equal((await succeed()).status, 'succeeded')
  })

  it('is open after a rejection too, so that the work can be mended', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const { id } = await ask({ taskId, gate: true })
    await decide(person, 'reject', id, 'Not like this')
    assert.deepEqual(await seen(agent.client, taskId), OPEN)
    const again = await ask({ taskId, gate: true })
    assert.deepEqual(await seen(agent.client, taskId), CLOSED)
    await decide(agent, 'cancel', again.id)
    assert.deepEqual(await seen(agent.client, taskId), OPEN)
  })

  it('closes again when what was approved is revised, until the revision is approved', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const first = await ask({ taskId, gate: true })
    await decide(person, 'approve', first.id)
    await claimIt(agent.client, taskId)
    await changeTask(client, taskId, { description: 'To another account' })

    const found = await call(client, approvals.getApproval, { params: { id: first.id } })
    assert.deepEqual([found.status, found.stale, found.taskRevision], ['approved', true, 1])
    await assert.rejects(complete(agent.client, taskId), { code: 'task_claimed' })
    const { activeClaimId } = await call(client, tasks.getTask, { params: { ref: taskId } })
    const fence = { claimId: activeClaimId ?? '', fencingToken: 1 }
    await assert.rejects(complete(agent.client, taskId, fence), {
      code: 'approval_required',
      details: {
        gates: [{ approvalId: first.id, status: 'approved', stale: true }],
        status: 409,
      },
    })
    const second = await ask({ taskId, gate: true })
    await decide(person, 'approve', second.id)
    assert.equal((await complete(agent.client, taskId, fence)).status, 'completed')
  })

  it('on an artifact closes again with every revision of it', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    let artifactId = await newRevision(agent.client, { taskId })
    const other = await newRevision(agent.client, { taskId })
    for (let turn = 0; turn < 3; turn += 1) {
      const { id } = await ask({ taskId, artifactId, gate: true })
      await decide(person, 'approve', id)
      assert.deepEqual(await seen(agent.client, taskId), OPEN)
      artifactId = await newRevision(agent.client, { supersedesArtifactId: artifactId })
      assert.deepEqual(await seen(agent.client, taskId), CLOSED)
      const apart = await ask({ taskId, artifactId: other, gate: true })
      await decide(person, 'approve', apart.id)
      assert.deepEqual(
        await seen(agent.client, taskId),
        CLOSED,
        'another artifact is another matter',
      )
    }
  })

  it('of one person is not opened by another, nor by what is no gate', async () => {
    const { client, agent, person, add, ask } = await approvalTenant(db)
    const other = await add(DECIDES)
    const taskId = await newTaskId(client)
    const both = [person, other].map(({ id }) => ({ taskId, gate: true, assignedPrincipalId: id }))
    const [first, second] = [await ask(both[0] ?? {}), await ask(both[1] ?? {})]
    await decide(person, 'approve', first.id)
    assert.deepEqual(await seen(agent.client, taskId), CLOSED)
    await decide(other, 'approve', second.id)
    assert.deepEqual(await seen(agent.client, taskId), OPEN)

    await changeTask(client, taskId, { title: 'Pay out more' })
    await decide(other, 'approve', (await ask(both[1] ?? {})).id)
    assert.deepEqual(await seen(agent.client, taskId), CLOSED)
    await decide(person, 'approve', (await ask({ taskId })).id)
    assert.deepEqual(await seen(agent.client, taskId), CLOSED)
    await decide(person, 'approve', (await ask(both[0] ?? {})).id)
    assert.deepEqual(await seen(agent.client, taskId), OPEN)
  })

  it('that was revised before it was decided gives way to the next one', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    await ask({ taskId, gate: true })
    await changeTask(client, taskId, { title: 'Pay out less' })
    assert.deepEqual(await seen(agent.client, taskId), CLOSED)
    const next = await ask({ taskId, gate: true })
    await decide(person, 'approve', next.id)
    assert.deepEqual(await seen(agent.client, taskId), OPEN)
  })

  it('comes among the other reasons that a task cannot be claimed', async () => {
    const { client, agent, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    await claimIt(agent.client, taskId)
    await ask({ taskId, gate: true })
    const { reasons } = await seen(client, taskId)
    assert.deepEqual(reasons, ['task_already_claimed', 'approval_required'])
  })
})

/** Suspends a run for a gate, has that decided, and takes the task up again. */
async function suspendAndDecide(verb: 'approve' | 'reject') {
  const { client, agent, person, ask } = await approvalTenant(db)
  const taskId = await newTaskId(client)
  const fence = await claimIt(agent.client, taskId)
  const start = { params: { ref: taskId }, body: fence }
  const run = await call(agent.client, runs.startRun, start)
  const gate = await ask({ taskId, gate: true, ...fence })
  const body = { reason: 'sign-off', waitingForApprovalId: gate.id }
  const after = await call(agent.client, suspendRun, {
    params: { id: run.id },
    body: { ...body, fencingToken: fence.fencingToken },
  })
  assert.deepEqual([after.status, after.waitingForApprovalId], ['suspended', gate.id])
  assert.deepEqual(await seen(agent.client, taskId), CLOSED)
  await decide(person, verb, gate.id)
  assert.deepEqual(await seen(agent.client, taskId), OPEN)
  const next = await claimIt(agent.client, taskId)
  const second = { params: { ref: taskId }, body: next }
  assert.equal((await call(agent.client, runs.startRun, second)).attempt, 2)
}

describe('a run that is suspended for an approval', () => {
  it('leaves a task that can be taken up once the approval is given', async () => {
    await suspendAndDecide('approve')
  })

  it('leaves a task that can be taken up once the approval is refused', async () => {
    await suspendAndDecide('reject')
  })

  it('waits for one of its own task that is pending, or goes on', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const fence = await claimIt(agent.client, taskId)
    const start = { params: { ref: taskId }, body: fence }
    const run = await call(agent.client, runs.startRun, start)
    const waitFor = async (waitingForApprovalId: string) => {
      const body = { fencingToken: fence.fencingToken, reason: 'sign-off', waitingForApprovalId }
      return await call(agent.client, suspendRun, { params: { id: run.id }, body })
    }
    const decided = await ask({ taskId })
    await decide(person, 'approve', decided.id)
    await assert.rejects(waitFor(decided.id), { code: 'approval_already_decided' })
    const elsewhere = await ask({ taskId: await newTaskId(client) })
    await assert.rejects(waitFor(elsewhere.id), { code: 'invalid_request' })
    await assert.rejects(waitFor(crypto.randomUUID()), { code: 'not_found' })
    const { status } = await call(client, runs.getRun, { params: { id: run.id } })
    assert.equal(status, 'running')
  })
})
