import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { getChildHandle, listChildHandles, revokeChildHandle } from '#contract/child-handles.ts'
import type { Grant } from '#contract/child-handles.ts'
import { listRelations } from '#contract/relations.ts'
import { recordAction } from '#contract/run-actions.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import {
  CHILD_RIGHTS,
  newChild,
  parentRun,
  under,
  workAsChild,
} from '../../test/support/children.ts'
import type { Parent } from '../../test/support/children.ts'
import { sharedDb } from '../../test/support/db.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

async function statusOf(client: ClientOptions, id: string): Promise<string> {
  return (await call(client, getChildHandle, { params: { id } })).status
}

describe('a child run', () => {
  it('works under its handle, and its parent gets the result', async () => {
    const { client } = await admin()
    const parent = await parentRun(client)
    const handle = await newChild(client, parent, { correlationId: 'tests' })
    assert.equal(handle.status, 'pending')
    const related = await call(client, listRelations, { params: { ref: handle.taskId } })
    assert.deepEqual(
      related.items.map(({ type, toTaskId }) => [type, toTaskId]),
      [['spawned_by', parent.task.id]],
    )
    assert.match(handle.handleToken ?? '', /^ch1_[\w-]{43}$/)

    const child = under(client, handle.handleToken)
    const { params, fencingToken } = await workAsChild(child, handle.taskId)
    assert.equal(await statusOf(client, handle.id), 'running')
    const output = { tests: 12 }
    const body = { fencingToken, output, completeTask: true }
    const { finishedAt } = await call(child, runs.succeedRun, { params, body })

    const done = await call(client, getChildHandle, { params: { id: handle.id } })
    assert.deepEqual(
      [done.status, done.childRunId, done.result],
      ['succeeded', params.id, { runId: params.id, output, finishedAt }],
    )
    const { items } = await call(client, listChildHandles, { params: parent.params })
    assert.deepEqual(items, [done])
  })

  it('is made once per correlation id, and its token shown once', async () => {
    const { client } = await admin()
    const parent = await parentRun(client)
    const first = await newChild(client, parent, { correlationId: 'tests' })

    const again = await newChild(client, parent, { correlationId: 'tests' })

    assert.deepEqual(again, { ...first, handleToken: null })
    const { items } = await call(client, listChildHandles, { params: parent.params })
    assert.equal(items.length, 1)
  })

  it('is claimed by nobody without the handle, and offered to nobody', async () => {
    const { client } = await admin()
    const handle = await newChild(client, await parentRun(client))

    await assert.rejects(workAsChild(client, handle.taskId), {
      code: 'task_not_claimable',
      details: { reason: 'child_handle_required', status: 422 },
    })

    const { items } = await call(client, tasks.listAvailableWork, {})
    assert.deepEqual(items, [])
    const params = { ref: handle.taskId }
    const shown = await call(client, tasks.getClaimability, { params })
    assert.deepEqual([shown.claimable, shown.reasons], [false, ['task_not_claimable']])
    const own = await call(under(client, handle.handleToken), tasks.getClaimability, { params })
    assert.equal(own.claimable, true)
    const forged = { title: 'x', origin: { kind: 'child_run', ref: handle.id } }
    await assert.rejects(call(client, tasks.createTask, { body: forged }), {
      code: 'invalid_request',
    })
  })

  it('has no right that the grant lacks, whatever its credential may do', async () => {
    const { client } = await admin()
    const handle = await newChild(client, await parentRun(client))
    const child = under(client, handle.handleToken)

    await assert.rejects(call(child, tasks.createTask, { body: { title: 'more' } }), {
      code: 'child_grant_exceeded',
      details: { required: 'tasks.write', status: 403 },
    })
    const other = await call(client, tasks.createTask, { body: { title: 'another' } })
    await assert.rejects(workAsChild(child, other.id), { code: 'child_grant_exceeded' })
    const { params, fencingToken } = await workAsChild(child, handle.taskId)
    const action = { fencingToken, action: 'tool.shell' }
    await assert.rejects(call(client, recordAction, { params, body: action }), {
      code: 'child_grant_exceeded',
    })
    await call(child, recordAction, { params, body: action })
  })

  it('gives its parent a result that is small', async () => {
    const { client } = await admin()
    const handle = await newChild(client, await parentRun(client))
    const child = under(client, handle.handleToken)
    const { params, fencingToken } = await workAsChild(child, handle.taskId)
    const output = { text: 'x'.repeat(40_000) }

    await assert.rejects(call(child, runs.succeedRun, { params, body: { fencingToken, output } }), {
      code: 'invalid_request',
    })

    assert.equal(await statusOf(client, handle.id), 'running')
  })
})

describe('the grant of a child', () => {
  it('cannot exceed what its parent has', async () => {
    const { client, tenant } = await admin()
    const { key } = await tenant.caller([...CHILD_RIGHTS, 'tasks.write'])
    const agent = clientOf(key)
    const parent = await parentRun(agent, { maxActions: 3 })
    const { fencingToken, params } = parent
    await call(agent, recordAction, { params, body: { fencingToken, action: 'plan' } })

    await assert.rejects(
      newChild(agent, parent, {
        grant: { permissions: ['tasks.claim', 'artifacts.write'], maxActions: 3 },
      }),
      {
        code: 'child_grant_exceeds_parent',
        details: {
          violations: [
            { path: 'permissions', child: 'artifacts.write', parent: null },
            { path: 'maxActions', child: 3, parent: 2 },
          ],
          status: 422,
        },
      },
    )

    const handle = await newChild(agent, parent)
    assert.equal(handle.grant.maxActions, 2, 'what is left is the most')
    const child = under(agent, handle.handleToken)
    const work = await workAsChild(child, handle.taskId)
    assert.equal(work.run.maxActions, 2)
    const { items } = await call(client, tasks.listTasks, {})
    assert.equal(items.length, 2, 'the refused child left no task')
  })

  it('narrows further down', async () => {
    const { client } = await admin()
    const permissions = [...CHILD_RIGHTS, 'tasks.write'] as const
    const grant = { permissions: [...permissions], skills: ['lint', 'test'] }
    const handle = await newChild(client, await parentRun(client), { grant })
    const child = under(client, handle.handleToken)
    const work = await workAsChild(child, handle.taskId)
    const parent = { ...work, task: { id: handle.taskId } } as unknown as Parent

    for (const wider of [
      { permissions: [...permissions, 'artifacts.read'] },
      { skills: ['deploy'] },
    ] as Partial<Grant>[]) {
      await assert.rejects(newChild(child, parent, { grant: wider }), {
        code: 'child_grant_exceeds_parent',
      })
    }
    const below = await newChild(child, parent, { grant: { ttlSeconds: 2_592_000 } })
    assert.deepEqual(below.grant.skills, ['lint', 'test'])
    assert.equal(below.expiresAt, handle.expiresAt, 'and ends with the handle above')
  })

  it('holds the right to claim, and none that is for people', async () => {
    const { client } = await admin()
    const parent = await parentRun(client)
    for (const permissions of [
      ['tasks.read'],
      ['tasks.claim', 'admin'],
      ['tasks.claim', 'approvals.decide'],
    ] as Grant['permissions'][]) {
      await assert.rejects(newChild(client, parent, { grant: { permissions } }), {
        code: 'invalid_request',
      })
    }
  })
})

describe('a handle', () => {
  it('can be used no more when it is revoked, and its child is asked to stop', async () => {
    const { client } = await admin()
    const handle = await newChild(client, await parentRun(client))
    const child = under(client, handle.handleToken)
    const { params, fencingToken } = await workAsChild(child, handle.taskId)

    const revoke = { params: { id: handle.id }, body: { reason: 'found it elsewhere' } }
    const revoked = await call(client, revokeChildHandle, revoke)

    assert.deepEqual([revoked.status, revoked.revokeReason], ['revoked', 'found it elsewhere'])
    assert.deepEqual(await call(client, revokeChildHandle, revoke), revoked)
    const body = { fencingToken, action: 'tool.shell' }
    await assert.rejects(call(child, recordAction, { params, body }), {
      code: 'child_handle_revoked',
    })
    const run = await call(client, runs.getRun, { params })
    assert.deepEqual([run.status, run.cancelRequestReason], ['running', 'handle_revoked'])
  })

  it('can be used no more when its time is over', async () => {
    const { client, tenant } = await admin()
    const handle = await newChild(client, await parentRun(client))
    await db`
      update child_handles
      set expires_at = clock_timestamp()
      where tenant_id = ${tenant.ctx.tenantId}
        and id = ${handle.id}`

    await assert.rejects(workAsChild(under(client, handle.handleToken), handle.taskId), {
      code: 'child_handle_expired',
    })

    assert.equal(await statusOf(client, handle.id), 'expired')
  })

  it('means nothing in another tenant, and a made-up one nothing anywhere', async () => {
    const [one, two] = [await admin(), await admin()]
    const handle = await newChild(one.client, await parentRun(one.client))
    for (const token of [handle.handleToken, `ch1_${'x'.repeat(43)}`, 'nonsense']) {
      await assert.rejects(call(under(two.client, token), tasks.listTasks, {}), {
        code: 'invalid_credentials',
      })
    }
  })

  it('is revoked by who made it, or who manages claims', async () => {
    const { client, tenant } = await admin()
    const handle = await newChild(client, await parentRun(client))
    const { key } = await tenant.caller(['tasks.claim', 'tasks.write'])
    await assert.rejects(call(clientOf(key), revokeChildHandle, { params: { id: handle.id } }), {
      code: 'run_holder_mismatch',
    })
    const { key: managing } = await tenant.caller(['claims.manage'])
    await call(clientOf(managing), revokeChildHandle, { params: { id: handle.id } })
  })
})
