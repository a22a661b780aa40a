import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import * as approvals from '#contract/approvals.ts'
import { createApiKey, updatePrincipal } from '#contract/org.ts'
import { revokeRole } from '#contract/roles.ts'
import { getClaimability } from '#contract/tasks.ts'
import type { TaskChanges } from '#contract/tasks.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { AppError } from '#lib/errors.ts'
import {
  approvalTenant,
  changeTask,
  decide,
  DECIDES,
  newRevision,
  newRole,
  newTaskId,
} from '../../test/support/approvals.ts'
import { sharedDb } from '../../test/support/db.ts'
import { claimNow, eventsOf } from '../../test/support/leases.ts'

const db = await sharedDb()

function denied(reason: string) {
  return (error: unknown) => {
    assert.ok(error instanceof AppError)
    const { required, reason: given } = error.details
    assert.deepEqual(
      [error.code, required, given],
      ['permission_denied', 'approvals.decide', reason],
    )
    return true
  }
}

async function tree(client: Awaited<ReturnType<typeof approvalTenant>>['client']) {
  const add = async (slug: string, parentId: string | null = null) =>
    (await call(client, createWorkspace, { body: { slug, name: slug, parentId } })).id
  const root = await add('root')
  return { root, leaf: await add('leaf', root), apart: await add('apart') }
}

describe('a decision', () => {
  it('is the last word on what was asked, with who said it and why', async () => {
    const { tenant, client, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const { id } = await ask({ taskId })

    const approved = await decide(person, 'approve', id, 'Looks right')

    assert.deepEqual(
      [approved.status, approved.decidedBy, approved.decisionComment, approved.version],
      ['approved', person.id, 'Looks right', 2],
    )
    assert.deepEqual(await call(client, approvals.getApproval, { params: { id } }), approved)
    const [event] = (await eventsOf(db, tenant.ctx)).slice(-1)
    assert.deepEqual(
      [event?.type, event?.entityId, event?.entityVersion, event?.actorId, event?.payload],
      ['approval.approved', id, 2, person.id, { taskId, artifactId: null, comment: 'Looks right' }],
    )
    for (const verb of ['approve', 'reject'] as const) {
      await assert.rejects(decide(person, verb, id), {
        code: 'approval_already_decided',
        details: { decision: 'approved', decidedBy: person.id, status: 409 },
      })
    }
    const change = db`
      update approvals
      set comment = 'something else'
      where tenant_id = ${tenant.ctx.tenantId}
        and id = ${id}`
    await assert.rejects(change, /Cannot change an approval: it is approved/)
  })

  it('is for who is asked by name, and for nobody else', async () => {
    const { client, add, ask, person } = await approvalTenant(db)
    const other = await add(DECIDES)
    const { id } = await ask({ taskId: await newTaskId(client) })
    await assert.rejects(decide(other, 'approve', id), denied('not_addressed'))
    assert.equal((await decide(person, 'reject', id)).status, 'rejected')
  })

  it('is for who holds the role for the tenant, or where the task belongs, or above that', async () => {
    const { client, person, ask } = await approvalTenant(db)
    const { root, leaf, apart } = await tree(client)
    const tries = async (givenAt?: string) => {
      const place = givenAt === undefined ? {} : { givenAt }
      const requiredRoleId = await newRole(client, [person.id], place)
      const taskId = await newTaskId(client, { workspaceId: leaf })
      const { id } = await ask({ taskId, requiredRoleId })
      return await decide(person, 'approve', id)
    }
    assert.equal((await tries()).status, 'approved')
    assert.equal((await tries(leaf)).status, 'approved')
    assert.equal((await tries(root)).status, 'approved')
    await assert.rejects(tries(apart), denied('not_addressed'))
  })

  it('is not for who has lost the role meanwhile', async () => {
    const { client, person, ask } = await approvalTenant(db)
    const requiredRoleId = await newRole(client, [person.id])
    const { id } = await ask({ taskId: await newTaskId(client), requiredRoleId })
    await call(client, revokeRole, {
      params: { id: requiredRoleId },
      body: { principalId: person.id },
    })
    await assert.rejects(decide(person, 'approve', id), denied('not_addressed'))
  })

  it('is for people with the permission, whatever role others hold', async () => {
    const { client, add, agent, ask } = await approvalTenant(db)
    const reader = await add(['approvals.read'])
    const requiredRoleId = await newRole(client, [reader.id, agent.id])
    const { id } = await ask({ taskId: await newTaskId(client), requiredRoleId })
    for (const someone of [reader, agent]) {
      await assert.rejects(decide(someone, 'approve', id), { code: 'permission_denied' })
    }
    // A credential from before the rule, or of a decision point, may say otherwise.
    await db`
      update api_keys
      set permissions = '{approvals.decide}'
      where tenant_id = ${agent.ctx.tenantId}
        and principal_id = ${agent.id}`
    await assert.rejects(decide(agent, 'approve', id), denied('not_a_person'))
  })

  it('is reached by a key of the workspace, and by no key of another one', async () => {
    const { client, clientOf, person, ask } = await approvalTenant(db)
    const { leaf, apart } = await tree(client)
    const limited = async (workspaceId: string) => {
      const { key } = await call(client, createApiKey, {
        params: { id: person.id },
        body: { name: 'limited', permissions: [...DECIDES], workspaceId },
      })
      return { client: clientOf(key ?? '') }
    }
    const { id } = await ask({ taskId: await newTaskId(client, { workspaceId: leaf }) })
    await assert.rejects(decide(await limited(apart), 'approve', id), { code: 'not_found' })
    assert.equal((await decide(await limited(leaf), 'approve', id)).status, 'approved')
  })
})

describe('the separation of duties', () => {
  it('keeps who asked from deciding', async () => {
    const { client, add, ask } = await approvalTenant(db)
    const both = await add(['approvals.manage', 'approvals.decide'])
    const requiredRoleId = await newRole(client, [both.id])
    const { id } = await ask({ taskId: await newTaskId(client), requiredRoleId }, both.client)
    await assert.rejects(decide(both, 'approve', id), denied('requested_it'))
    await assert.rejects(decide(both, 'reject', id), denied('requested_it'))
  })

  it('keeps who made an artifact, or an earlier revision of it, from deciding', async () => {
    const { client, add, ask } = await approvalTenant(db)
    const makes = ['artifacts.write', ...DECIDES] as const
    const [first, second, third] = [await add(makes), await add(makes), await add(makes)]
    const requiredRoleId = await newRole(client, [first.id, second.id, third.id])
    const old = await newRevision(first.client)
    const artifactId = await newRevision(second.client, { supersedesArtifactId: old })
    const { id } = await ask({ artifactId, requiredRoleId })
    await assert.rejects(decide(first, 'approve', id), denied('made_it'))
    await assert.rejects(decide(second, 'approve', id), denied('made_it'))
    assert.equal((await decide(third, 'approve', id)).status, 'approved')
  })

  it('keeps who made a task, changed what it asks for, or held it, from deciding', async () => {
    const { client, add, ask } = await approvalTenant(db)
    const works = ['sessions.open', 'tasks.read', 'tasks.write', 'tasks.claim', ...DECIDES] as const
    const [maker, reviser, worker] = [await add(works), await add(works), await add(works)]
    const requiredRoleId = await newRole(client, [maker.id, reviser.id, worker.id])
    const taskId = await newTaskId(maker.client)
    await changeTask(reviser.client, taskId, { description: 'In cash' })
    await changeTask(client, taskId, { title: 'Pay out, in cash' })
    await changeTask(worker.client, taskId, { priority: 'high' })
    const { id } = await ask({ taskId, requiredRoleId })
    await assert.rejects(decide(maker, 'approve', id), denied('made_it'))
    await assert.rejects(decide(reviser, 'approve', id), denied('made_it'))
    await claimNow(db, worker.ctx, { ref: taskId })
    await assert.rejects(decide(worker, 'approve', id), denied('made_it'))
  })

  it('lets who made the task decide about what others made of it', async () => {
    const { client, add, agent, ask } = await approvalTenant(db)
    const maker = await add(['tasks.write', ...DECIDES])
    const taskId = await newTaskId(maker.client)
    const artifactId = await newRevision(agent.client, { taskId })
    const assignedPrincipalId = maker.id
    const { id } = await ask({ taskId, artifactId, gate: true, assignedPrincipalId })
    assert.equal((await decide(maker, 'approve', id)).status, 'approved')
    await assert.rejects(ask({ taskId, assignedPrincipalId }), { code: 'invalid_request' })
    assert.equal((await call(client, approvals.listApprovals)).items.length, 1)
  })
})

describe('what was revised since', () => {
  it('cannot be approved any more, only rejected or withdrawn', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const old = await newRevision(agent.client, { taskId })
    const [ofTask, ofArtifact] = [await ask({ taskId }), await ask({ artifactId: old })]
    await changeTask(client, taskId, { acceptance: ['The books balance'] })
    await newRevision(agent.client, { supersedesArtifactId: old })

    for (const { id } of [ofTask, ofArtifact]) {
      const found = await call(client, approvals.getApproval, { params: { id } })
      assert.deepEqual([found.status, found.stale], ['pending', true])
      await assert.rejects(decide(person, 'approve', id), { code: 'version_conflict' })
    }
    assert.equal((await decide(person, 'reject', ofTask.id)).status, 'rejected')
    assert.equal((await decide(agent, 'cancel', ofArtifact.id)).status, 'cancelled')
  })

  it('is what the task asks for, not how far the work has come', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const { id } = await ask({ taskId })
    const isStale = async () =>
      (await call(client, approvals.getApproval, { params: { id } })).stale
    await claimNow(db, agent.ctx, { ref: taskId })
    for (const change of [
      { priority: 'high' },
      { dueDate: '2030-01-01' },
      { assigneeId: agent.id },
      { evidence: ['a receipt'] },
    ] satisfies TaskChanges[]) {
      await changeTask(client, taskId, change)
    }
    assert.equal(await isStale(), false)
    assert.equal((await decide(person, 'approve', id)).status, 'approved')
    await changeTask(client, taskId, { customFields: { amount: 2 } })
    assert.equal(await isStale(), true)
  })
})

describe('a request', () => {
  it('for a gate is withdrawn by who asked or who may decide, and by no other manager', async () => {
    const { client, add, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const manager = await add(['approvals.manage', 'approvals.decide'])
    const [one, two] = [await ask({ taskId, gate: true }), await ask({ taskId, gate: true })]
    await assert.rejects(decide(manager, 'cancel', one.id), denied('not_addressed'))
    assert.equal((await decide(agent, 'cancel', one.id)).status, 'cancelled')
    assert.equal((await decide(person, 'cancel', two.id)).status, 'cancelled')
    await assert.rejects(decide(agent, 'cancel', one.id), {
      code: 'approval_already_decided',
    })
  })

  it('that is no gate is withdrawn by any manager, and by nobody without a permission', async () => {
    const { client, add, ask } = await approvalTenant(db)
    const { id } = await ask({ taskId: await newTaskId(client) })
    const [reader, manager] = [await add(['approvals.read']), await add(['approvals.manage'])]
    await assert.rejects(decide(reader, 'cancel', id), { code: 'permission_denied' })
    const other = await add(['approvals.decide'])
    await assert.rejects(decide(other, 'cancel', id), denied('not_addressed'))
    assert.equal((await decide(manager, 'cancel', id)).decidedBy, manager.id)
  })

  it('for a gate that was approved is withdrawn once that no longer counts, and not before', async () => {
    const { client, agent, person, ask } = await approvalTenant(db)
    const taskId = await newTaskId(client)
    const { id } = await ask({ taskId, gate: true })
    await decide(person, 'approve', id)
    await assert.rejects(decide(agent, 'cancel', id), { code: 'approval_already_decided' })
    await changeTask(client, taskId, { title: 'Pay out twice' })
    const withdrawn = await decide(agent, 'cancel', id)
    assert.deepEqual([withdrawn.status, withdrawn.decidedBy], ['cancelled', agent.id])
    await assert.rejects(decide(agent, 'cancel', id), { code: 'approval_already_decided' })
    const { claimable } = await call(client, getClaimability, { params: { ref: taskId } })
    assert.equal(claimable, true)
  })

  it('for the gate of a person who has become a maker is withdrawn by an administrator', async () => {
    const { client, add, ask } = await approvalTenant(db)
    const editor = await add(['tasks.read', 'tasks.write', ...DECIDES])
    const taskId = await newTaskId(client)
    const { id } = await ask({ taskId, gate: true, assignedPrincipalId: editor.id })
    await changeTask(editor.client, taskId, { title: 'Pay out in parts' })
    await assert.rejects(decide(editor, 'reject', id), denied('made_it'))
    await assert.rejects(decide(editor, 'cancel', id), denied('made_it'))
    assert.equal((await decide({ client }, 'cancel', id)).status, 'cancelled')
  })

  it('for the gate of a person who left is withdrawn by an administrator', async () => {
    const { client, tenant, person, ask } = await approvalTenant(db)
    const { id } = await ask({ taskId: await newTaskId(client), gate: true })
    await assert.rejects(decide({ client }, 'cancel', id), denied('not_addressed'))
    await call(client, updatePrincipal, {
      params: { id: person.id },
      ifMatch: 1,
      body: { status: 'disabled' },
    })
    const lifted = await decide({ client }, 'cancel', id)
    assert.deepEqual([lifted.status, lifted.decidedBy], ['cancelled', tenant.ctx.actorId])
  })
})
