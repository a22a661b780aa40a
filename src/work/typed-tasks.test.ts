import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import * as claims from '#contract/claims.ts'
import * as sessions from '#contract/sessions.ts'
import * as taskTypes from '#contract/task-types.ts'
import * as tasks from '#contract/tasks.ts'
import * as transitions from '#contract/transitions.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { REVIEWED } from '../../test/support/reviewed-type.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin } = workClients(db)

/** The code of a refusal and the places it names. */
async function where(attempt: Promise<unknown>): Promise<string[]> {
  const error: unknown = await attempt.catch((reason: unknown) => reason)
  const { code, details } = error as { code: string; details: { errors: { loc: string }[] } }
  return [code, ...details.errors.map(({ loc }) => loc).toSorted()]
}

describe('a task of a type', () => {
  it('moves as the type declares, and into success only by completing', async () => {
    const { client } = await admin()
    await call(client, taskTypes.createTaskType, { body: REVIEWED })
    const body = { title: 'Fix it', typeKey: 'reviewed', customFields: { severity: 'low' } }
    const task = await call(client, tasks.createTask, { body })
    const params = { ref: task.id }
    const session = await call(client, sessions.openSession, { body: { clientName: 'test' } })
    const claim = await call(client, claims.claimTask, {
      params,
      body: { sessionId: session.id },
    })
    const fence = { claimId: claim.id, fencingToken: claim.fencingToken }
    const move = (status: string, ifMatch: number, more: object = {}) =>
      call(client, tasks.updateTask, { params, ifMatch, body: { status, ...more } })

    const next = await call(client, transitions.listTransitions, { params })
    assert.deepEqual(next, {
      taskId: task.id,
      status: 'doing',
      systemStatusCategory: 'active',
      transitions: [{ status: 'review', systemStatusCategory: 'blocked', by: 'update' }],
    })
    await assert.rejects(move('done', 2, fence), {
      code: 'invalid_transition',
      details: { from: 'doing', to: 'done', allowed: ['review'], status: 422 },
    })
    const complete = (ifMatch: number) => call(client, tasks.completeTask, { params, ifMatch })
    assert.equal((await move('review', 2, fence)).activeClaimId, null)
    await assert.rejects(move('done', 3), { code: 'invalid_transition' })
    const done = await complete(3)
    assert.deepEqual([done.status, done.systemStatusCategory], ['done', 'terminal_success'])
    await assert.rejects(complete(4), { code: 'task_already_completed' })
  })

  it('stays where it is while claimed when its type says so, and its claim with it', async () => {
    const { client } = await admin()
    const lifecycleSchema = { ...REVIEWED.lifecycleSchema, claimStatus: null }
    const body = { ...REVIEWED, lifecycleSchema, customFieldsSchema: null }
    await call(client, taskTypes.createTaskType, { body })
    const { id: ref } = await call(client, tasks.createTask, {
      body: { title: 'Look', typeKey: 'reviewed' },
    })
    const session = await call(client, sessions.openSession, { body: { clientName: 'test' } })
    const claim = await call(client, claims.claimTask, {
      params: { ref },
      body: { sessionId: session.id },
    })
    const task = await call(client, tasks.updateTask, {
      params: { ref },
      ifMatch: 2,
      body: { title: 'Look closer' },
    })

    assert.deepEqual([task.status, task.activeClaimId], ['ready', claim.id])
    await call(client, claims.releaseClaim, {
      params: { id: claim.id },
      body: { fencingToken: claim.fencingToken },
    })
    const after = await call(client, tasks.getTask, { params: { ref } })
    assert.deepEqual([after.status, after.activeClaimId], ['ready', null])
  })

  it('keeps its version, and its fields are checked by that one', async () => {
    const { client, tenant } = await admin()
    await call(client, taskTypes.createTaskType, { body: REVIEWED })
    const make = (customFields: object, more: object = {}) =>
      call(client, tasks.createTask, {
        body: { title: 'Fix it', typeKey: 'reviewed', customFields, ...more } as tasks.NewTask,
      })
    const task = await make({ severity: 'low', estimate: 2 })
    await call(client, taskTypes.createTaskType, {
      body: { ...REVIEWED, customFieldsSchema: null },
    })
    const params = { ref: task.id }
    const change = (customFields: Record<string, unknown>) =>
      call(client, tasks.updateTask, { params, ifMatch: 1, body: { customFields } })

    const invalid = 'invalid_custom_fields'
    assert.deepEqual(await where(change({ severity: 'sw0rdf1sh', estimate: 0, other: 1 })), [
      invalid,
      'body.customFields.estimate',
      'body.customFields.other',
      'body.customFields.severity',
    ])
    assert.deepEqual(await where(change({})), [invalid, 'body.customFields.severity'])
    assert.deepEqual(await where(make({}, { typeVersion: 1 })), [
      invalid,
      'body.customFields.severity',
    ])
    assert.equal((await make({ anything: true })).typeVersion, 2)
    await assert.rejects(make({}, { typeVersion: 3 }), { code: 'not_found' })
    await assert.rejects(make({}, { typeKey: 'absent' }), { code: 'not_found' })
    assert.deepEqual((await change({ severity: 'high' })).customFields, { severity: 'high' })
    const told = JSON.stringify(await eventsOf(db, tenant.ctx))
    assert.ok(!told.includes('severity') && told.includes('customFields'))
  })

  it('of a type without a schema takes any fields, and gives them all up for {}', async () => {
    const { client } = await admin()
    const customFields = { a: { b: [1] } }
    const task = await call(client, tasks.createTask, { body: { title: 'Free', customFields } })
    const after = await call(client, tasks.updateTask, {
      params: { ref: task.id },
      ifMatch: 1,
      body: { customFields: {} },
    })
    assert.deepEqual([task.customFields, after.customFields], [customFields, {}])
  })
})
