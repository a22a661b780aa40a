import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import * as approvals from '#contract/approvals.ts'
import type { NewApproval } from '#contract/approvals.ts'
import { updatePrincipal } from '#contract/org.ts'
import { completeTask } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { AppError } from '#lib/errors.ts'
import {
  approvalTenant,
  changeTask,
  newRevision,
  newRole,
  newTaskId,
} from '../../test/support/approvals.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'

const db = await sharedDb()

/** A refusal with this code that points at this field. */
function refusal(code: string, loc?: string) {
  return (error: unknown) => {
    assert.ok(error instanceof AppError)
    const errors = (error.details['errors'] ?? []) as { loc: string }[]
    assert.deepEqual([error.code, errors[0]?.loc], [code, loc], error.message)
    return true
  }
}

describe('a request for an approval', () => {
  it('names the revision that the task has now, and stands in the journal', async () => {
    const { tenant, client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    await changeTask(client, taskId, { description: 'By bank transfer' })

    const approval = await ask({ taskId, gate: true, comment: 'May I?' })

    assert.deepEqual(approval, {
      id: approval.id,
      taskId,
      taskRevision: 2,
      artifactId: null,
      workspaceId: null,
      requiredRoleId: null,
      assignedPrincipalId: person.id,
      gate: true,
      comment: 'May I?',
      status: 'pending',
      stale: false,
      afterAttempt: 0,
      requestedBy: agent.id,
      decidedBy: null,
      decidedAt: null,
      decisionComment: null,
      version: 1,
      createdAt: approval.createdAt,
    })
    const [event] = (await eventsOf(db, tenant.ctx)).slice(-1)
    assert.deepEqual(event, {
      type: 'approval.requested',
      entityType: 'approval',
      entityId: approval.id,
      entityVersion: 1,
      actorId: agent.id,
      payload: {
        taskId,
        taskRevision: 2,
        artifactId: null,
        requiredRoleId: null,
        assignedPrincipalId: person.id,
        gate: true,
        comment: 'May I?',
      },
    })
  })

  it('about an artifact alone belongs to the task of the artifact', async () => {
    const { client, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const artifactId = await newRevision(client, { taskId })
    const about = await ask({ artifactId })
    assert.deepEqual(
      [about.taskId, about.taskRevision, about.artifactId],
      [taskId, null, artifactId],
    )
    const apart = await ask({ artifactId: await newRevision(client) })
    assert.deepEqual([apart.taskId, apart.afterAttempt], [null, null])
  })

  it('is made once for a key', async () => {
    const { tenant, client, agent, person } = await approvalTenant(db)
    const body = { taskId: await newTaskId(client), assignedPrincipalId: person.id }
    const request = { idempotencyKey: 'ask', body }
    const first = await call(agent.client, approvals.requestApproval, request)
    const again = await send(agent.client, approvals.requestApproval, request)
    assert.equal(again.headers.get('idempotency-replayed'), 'true')
    assert.deepEqual(await again.json(), first)
    const asked = (await eventsOf(db, tenant.ctx)).filter(
      ({ type }) => type === 'approval.requested',
    )
    assert.equal(asked.length, 1)
  })

  const someone = { assignedPrincipalId: crypto.randomUUID() }
  const task = { taskId: crypto.randomUUID() }
  for (const [what, body, loc] of [
    ['about nothing', someone, 'body.taskId'],
    ['to nobody', task, 'body.requiredRoleId'],
    [
      'to a person and a role',
      { ...task, ...someone, requiredRoleId: crypto.randomUUID() },
      'body.requiredRoleId',
    ],
    [
      'for a gate without a task',
      { artifactId: crypto.randomUUID(), gate: true, ...someone },
      'body.taskId',
    ],
    [
      'about a revision of no task',
      { artifactId: crypto.randomUUID(), taskRevision: 1, ...someone },
      'body.taskId',
    ],
    ['with half a fence', { ...task, ...someone, fencingToken: 1 }, 'body.fencingToken'],
  ] as [string, Partial<NewApproval>, string][]) {
    it(`${what} is refused`, async () => {
      const { agent } = await approvalTenant(db)
      const asked = call(agent.client, approvals.requestApproval, { body })
      await assert.rejects(asked, refusal('invalid_request', loc))
    })
  }

  it('is for a person who can decide: active, and neither who asks nor who made it', async () => {
    const { client, tenant, agent, person, add, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const to = (assignedPrincipalId: string) => ask({ taskId, assignedPrincipalId })
    const refused = refusal('invalid_request', 'body.assignedPrincipalId')

    await assert.rejects(to(agent.id), refused)
    await assert.rejects(to(tenant.ctx.actorId), refused, 'who made the task')
    await assert.rejects(ask({ taskId, assignedPrincipalId: tenant.ctx.actorId }, client), refused)
    const gone = await add(['approvals.decide'])
    const disable = { params: { id: gone.id }, ifMatch: 1, body: { status: 'disabled' } } as const
    await call(client, updatePrincipal, disable)
    await assert.rejects(to(gone.id), refused)
    await assert.rejects(to(crypto.randomUUID()), refusal('not_found'))
    assert.equal((await to(person.id)).assignedPrincipalId, person.id)
  })

  it('is for a role that somebody can hold where the task belongs', async () => {
    const { client, ask } = await approvalTenant(db)
    const add = (slug: string, parentId: string | null = null) =>
      call(client, createWorkspace, { body: { slug, name: slug, parentId } })
    const root = await add('root')
    const leaf = await add('leaf', root.id)
    const apart = await add('apart')
    const taskId = await newTaskId(client, { workspaceId: leaf.id })
    const to = async (roleAt?: string) => {
      const requiredRoleId = await newRole(client, [], roleAt === undefined ? {} : { roleAt })
      return await ask({ taskId, requiredRoleId })
    }

    assert.equal((await to()).workspaceId, leaf.id)
    await to(leaf.id)
    await to(root.id)
    await assert.rejects(to(apart.id), refusal('invalid_request', 'body.requiredRoleId'))
  })

  it('is about the newest revision, and never about another one than was seen', async () => {
    const { client, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const old = await newRevision(client, { taskId })
    const head = await newRevision(client, { supersedesArtifactId: old })
    await assert.rejects(ask({ artifactId: old }), {
      code: 'version_conflict',
      details: { headArtifactId: head, status: 409 },
    })
    await changeTask(client, taskId, { title: 'Pay out twice' })
    await assert.rejects(ask({ taskId, taskRevision: 1 }), {
      code: 'version_conflict',
      details: { currentRevision: 2, status: 409 },
    })
    assert.equal((await ask({ taskId, taskRevision: 2, artifactId: head })).artifactId, head)
    const other = await newTaskId(client)
    const mixed = ask({ taskId: other, artifactId: head })
    await assert.rejects(mixed, refusal('invalid_request', 'body.artifactId'))
  })

  it('closes no gate of what is completed, and tells the journal no secret', async () => {
    const { client, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const comment = 'log in with ghp_0123456789abcdefghijABCDEFGHIJ'
    await assert.rejects(ask({ taskId, comment }), refusal('secret_refused'))
    await call(client, completeTask, { params: { ref: taskId }, ifMatch: 1 })
    await assert.rejects(ask({ taskId, gate: true }), refusal('task_already_completed'))
    assert.equal((await ask({ taskId })).status, 'pending', 'what is done may still be approved')
  })

  it('needs approvals.manage', async () => {
    const { client, person, add, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const other = await add(['approvals.decide'])
    const asked = ask({ taskId, assignedPrincipalId: other.id }, person.client)
    await assert.rejects(asked, refusal('permission_denied'))
  })
})
