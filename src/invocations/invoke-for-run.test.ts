import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { requestApproval } from '#contract/approvals.ts'
import { claimTask } from '#contract/claims.ts'
import { listActions } from '#contract/run-actions.ts'
import * as runs from '#contract/runs.ts'
import { openSession } from '#contract/sessions.ts'
import * as calls from '#contract/skill-invocations.ts'
import { createTaskType } from '#contract/task-types.ts'
import { createTask } from '#contract/tasks.ts'
import { changeTask, decide } from '../../test/support/approvals.ts'
import { callStage, claimed, seen } from '../../test/support/calls.ts'
import { sharedDb } from '../../test/support/db.ts'
import { endLease } from '../../test/support/leases.ts'
import { REVIEWED } from '../../test/support/reviewed-type.ts'

const db = await sharedDb()

const WRITES = { sideEffects: 'external_write' } as const

describe('a call for a run', () => {
  it('is an action of the run, counts against its budget and ends with the call', async () => {
    const { caller, invoke, newRun, newExecutor } = await callStage(db)
    const run = await newRun({ maxActions: 2 })
    const body = { runId: run.run.id, fencingToken: run.fencingToken }
    const [first, second] = [await invoke(body), await invoke(body)]
    await assert.rejects(invoke(body), { code: 'budget_exceeded' })
    const executor = await newExecutor()
    await claimed(executor, first.id)
    const error = { code: 'no_host', message: 'There is no such host' }
    await call(executor, calls.failInvocation, {
      params: { id: first.id },
      body: { fencingToken: 1, error },
    })
    assert.deepEqual((await seen(caller, first.id)).error, error)
    await call(caller, calls.cancelInvocation, { params: { id: second.id } })
    const { items } = await call(caller, listActions, { params: run.params })
    assert.deepEqual(
      items.map(({ id, action, skill, status, externalReference }) => [
        [id, action, skill],
        [status, externalReference],
      ]),
      [
        [
          [first.actionId, 'skill.invoke', 'deploy'],
          ['failed', `skill-invocation:${first.id}`],
        ],
        [
          [second.actionId, 'skill.invoke', 'deploy'],
          ['cancelled', `skill-invocation:${second.id}`],
        ],
      ],
    )
    const { items: ofRun } = await call(caller, calls.listInvocations, {
      query: { runId: run.run.id, status: 'failed' },
    })
    assert.deepEqual(
      ofRun.map(({ id }) => id),
      [first.id],
    )
  })

  it('is not begun any more once the run is over or its claim is lost', async () => {
    const { ctx, caller, invoke, newRun, newExecutor } = await callStage(db)
    const executor = await newExecutor()
    for (const end of ['fail', 'lose'] as const) {
      const { run, params, fencingToken } = await newRun()
      const { id } = await invoke({ runId: run.id, fencingToken })
      if (end === 'lose') await endLease(db, ctx, 'claims', run.claimId)
      else await call(caller, runs.failRun, { params, body: { reason: 'no luck' } })
      const claim = call(executor, calls.claimInvocation, { params: { id } })
      await assert.rejects(claim, {
        code: 'invocation_not_active',
        details: { invocationStatus: 'pending', reason: 'run_ended', status: 409 },
      })
    }
  })

  it('writes outside only with a basis: the type of the task can be one', async () => {
    const { client, caller, skill, invoke, newRun } = await callStage(db, WRITES)
    await assert.rejects(invoke(), { code: 'approval_required' })
    const other = await newRun()
    const held = { runId: other.run.id, fencingToken: other.fencingToken }
    await assert.rejects(invoke(held), {
      code: 'approval_required',
      details: { skillId: skill.id, sideEffects: 'external_write', status: 409 },
    })
    await call(client, createTaskType, {
      body: { ...REVIEWED, customFieldsSchema: null, executionSkill: 'deploy' },
    })
    const task = await call(client, createTask, { body: { title: 'Go', typeKey: REVIEWED.key } })
    const session = await call(caller, openSession, { body: { clientName: 'test' } })
    const claim = await call(caller, claimTask, {
      params: { ref: task.id },
      body: { sessionId: session.id },
    })
    const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
    const run = await call(caller, runs.startRun, { params: { ref: task.id }, body: fence })
    const executed = await invoke({ runId: run.id, fencingToken: claim.fencingToken })
    assert.deepEqual([executed.basis, executed.approvalId], ['execution', null])
  })

  it('uses up a gate of its task that was approved, once and for what was approved', async () => {
    const { tenant, client, clientOf, caller, invoke, newRun } = await callStage(db, WRITES)
    const boss = await tenant.caller(['approvals.decide', 'approvals.read'], 'human')
    const person = { client: clientOf(boss.key) }
    const ask = (taskId: string, more: object = {}) =>
      call(caller, requestApproval, {
        body: { taskId, assignedPrincipalId: boss.ctx.actorId, gate: true, ...more },
      })
    const { run, task, fencingToken } = await newRun()
    const held = { runId: run.id, fencingToken }
    const by = async (approvalId: string) => {
      const refusal = await invoke({ ...held, approvalId }).catch((error: unknown) => error)
      const { code, details } = refusal as { code?: string; details?: { reason?: string } }
      return [code ?? 'ok', details?.reason]
    }
    const refused = 'skill_side_effect_not_authorized'
    const elsewhere = await ask((await newRun()).task.id)
    await decide(person, 'approve', elsewhere.id)
    assert.deepEqual(await by(elsewhere.id), [refused, 'other_task'])
    const plain = await ask(task.id, { gate: false })
    await decide(person, 'approve', plain.id)
    assert.deepEqual(await by(plain.id), [refused, 'no_gate'])
    const no = await ask(task.id)
    assert.deepEqual(await by(no.id), ['approval_required', undefined])
    await decide(person, 'reject', no.id)
    assert.deepEqual(await by(no.id), [refused, 'rejected'])
    assert.deepEqual(await by(randomUUID()), ['not_found', undefined])

    const yes = await ask(task.id)
    await decide(person, 'approve', yes.id)
    const tries = await Promise.all(Array.from({ length: 5 }, () => by(yes.id)))
    const outcomes = tries.map(([code, reason]) => reason ?? code)
    const count = (wanted: string) => outcomes.filter((one) => one === wanted).length
    assert.deepEqual([count('ok'), count('used')], [1, 4])
    const { items } = await call(caller, calls.listInvocations, { query: { runId: run.id } })
    assert.deepEqual(
      items.map(({ basis, approvalId }) => [basis, approvalId]),
      [['approval', yes.id]],
    )
    const old = await ask(task.id)
    await decide(person, 'approve', old.id)
    const fence = { claimId: run.claimId, fencingToken }
    await changeTask(caller, task.id, { title: 'Something else', ...fence })
    assert.deepEqual(await by(old.id), [refused, 'stale'])
    assert.equal((await call(client, listActions, { params: { id: run.id } })).items.length, 1)
  })
})
