import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import { createChildHandle } from '#contract/child-handles.ts'
import * as context from '#contract/context.ts'
import * as references from '#contract/external-references.ts'
import { createApiKey, createPrincipal, getMe, listPrincipals } from '#contract/org.ts'
import { addRelation } from '#contract/relations.ts'
import { getTask, listTasks, updateTask } from '#contract/tasks.ts'
import { getWorkspaceTree, moveWorkspace } from '#contract/workspaces.ts'
import { newId } from '#lib/id.ts'
import { parentRun, under } from '../../test/support/children.ts'
import { sharedDb } from '../../test/support/db.ts'
import { policyScenes } from '../../test/support/policy-scene.ts'
import { codeOf } from '../../test/support/two-trees.ts'
import type { DecisionPoint } from './decision-point.ts'
import { policyDecider } from './policy-decider.ts'

const db = await sharedDb()
const { scene, policyOf } = await policyScenes(db)

const EVERYTHING = 'permit (principal, action, resource);'

describe('what a decision point permits', () => {
  it('is taken word for word: admin does not permit what is forbidden beside it', async (t) => {
    const here = await scene()
    const { decide } = await policyOf(
      t,
      `${EVERYTHING} forbid (principal, action == Action::"tasks.read",
        resource in Workspace::"${here.other.id}");`,
    )
    const client = await here.clientOf(decide)
    const reading = (ref: string) => codeOf(client, getTask, { params: { ref } })
    assert.equal(await reading(here.tasks.leaf.id), 'ok')
    assert.equal(await reading(here.tasks.other.id), 'permission_denied')
    const { items } = await call(client, listTasks, {})
    assert.deepEqual(items.map(({ title }) => title).toSorted(), ['leaf', 'nowhere'])
    const { permissions } = await call(client, getMe, {})
    assert.ok(permissions.includes('admin'))
  })

  it('reaches no further than the workspace of the binding, and nothing that is the tenant', async (t) => {
    const here = await scene({ limited: true })
    const { decide } = await policyOf(
      t,
      `${EVERYTHING} forbid (principal, action, resource in Workspace::"${here.leaf.id}");`,
    )
    const client = await here.clientOf(decide)
    const { items } = await call(client, getWorkspaceTree, {})
    assert.deepEqual(
      items.map(({ id, children }) => [id, children.length]),
      [[here.root.id, 0]],
    )
    assert.equal(
      await codeOf(client, getTask, { params: { ref: here.tasks.other.id } }),
      'not_found',
    )
    assert.equal(
      await codeOf(client, getTask, { params: { ref: here.tasks.nowhere.id } }),
      'not_found',
    )
    const body = { kind: 'agent', displayName: 'x' } as const
    assert.equal(await codeOf(client, createPrincipal, { body }), 'permission_denied')
  })

  it('is not asked about workspaces that the binding does not reach', async (t) => {
    const here = await scene({ limited: true })
    const { point } = await policyOf(t, EVERYTHING)
    const asked = new Set<string>()
    const listening: DecisionPoint = {
      allowed: point.allowed,
      search: (subject, action, wish) => {
        for (const { id } of wish.candidates) asked.add(id)
        return point.search(subject, action, wish)
      },
    }
    const client = await here.clientOf(policyDecider({ db, point: listening, cacheSeconds: 5 }))
    const { items } = await call(client, listTasks, {})
    assert.deepEqual(
      items.map(({ title }) => title),
      ['leaf'],
    )
    assert.deepEqual([...asked].toSorted(), [here.root.id, here.leaf.id].toSorted())
  })

  it('about one principal gives nobody rights in the whole tenant', async (t) => {
    const here = await scene()
    const { decide } = await policyOf(
      t,
      `permit (principal, action, resource == Principal::"${here.principalId}");
       permit (principal, action in [Action::"principals.write", Action::"goals.read"], resource);`,
    )
    const client = await here.clientOf(decide)
    const giving = (...permissions: string[]) =>
      codeOf(client, createApiKey, {
        params: { id: here.principalId },
        body: { name: 'k', permissions },
      })
    assert.equal(await giving('goals.read'), 'ok')
    assert.equal(await giving('goals.read', 'tasks.read'), 'permission_escalation')
    assert.equal(await giving('admin'), 'permission_escalation')
  })

  it('in workspaces does not open what describes the tenant', async (t) => {
    const here = await scene()
    const inside = `permit (principal, action, resource in Workspace::"${here.root.id}");`
    const { decide } = await policyOf(t, inside)
    const client = await here.clientOf(decide)
    assert.equal(await codeOf(client, listTasks, {}), 'ok')
    assert.equal(await codeOf(client, listPrincipals, {}), 'permission_denied')
  })

  it('has to be permitted of both ends of a relation', async (t) => {
    const here = await scene()
    const inside = `permit (principal, action, resource in Workspace::"${here.root.id}");`
    const { decide } = await policyOf(
      t,
      `${inside} permit (principal, action, resource in Workspace::"${here.other.id}");
       forbid (principal, action, resource == Task::"${here.tasks.other.id}");`,
    )
    const client = await here.clientOf(decide)
    const params = { ref: here.tasks.leaf.id }
    const body = { type: 'depends_on', toTask: here.tasks.other.publicId } as const
    assert.equal(await codeOf(client, addRelation, { params, body }), 'permission_denied')
  })

  it('about what is shown together is asked for every kind of it', async (t) => {
    const here = await scene()
    const { admin, tasks, leaf, other } = here
    const reference = { system: 'jira', type: 'issue', externalId: newId() }
    const refer = (ref: string) =>
      call(admin, references.addTaskReference, { params: { ref }, body: reference })
    await refer(tasks.other.id)
    const { decide } = await policyOf(
      t,
      `permit (principal, action == Action::"tasks.read", resource);
       permit (principal, action == Action::"artifacts.read", resource)
       unless { resource in Workspace::"${other.id}" };`,
    )
    const client = await here.clientOf(decide)
    const finding = () => codeOf(client, references.findExternalReference, { query: reference })
    assert.equal(await finding(), 'not_found')
    const found = await call(client, context.getContext, { body: { task: tasks.leaf.id } })
    assert.equal(found.operational.focus.task?.workspaceId, leaf.id)
  })

  it('is asked again where a thing has moved', async (t) => {
    const here = await scene()
    const inside = `permit (principal, action, resource in Workspace::"${here.root.id}");`
    const { decide } = await policyOf(t, inside)
    const client = await here.clientOf(decide)
    const params = { ref: here.tasks.leaf.id }
    assert.equal(await codeOf(client, getTask, { params }), 'ok')
    await call(here.admin, moveWorkspace, {
      params: { id: here.leaf.id },
      body: { parentId: here.other.id },
    })
    assert.equal(await codeOf(client, getTask, { params }), 'permission_denied')
    await call(here.admin, updateTask, {
      params,
      ifMatch: 1,
      body: { workspaceId: here.root.id },
    })
    assert.equal(await codeOf(client, getTask, { params }), 'ok')
  })

  it('is narrowed by a child handle, whose grant the binding does not matter to', async (t) => {
    const here = await scene()
    const { decide } = await policyOf(t, EVERYTHING)
    const client = await here.clientOf(decide)
    const { params, fencingToken } = await parentRun(client)
    const { handleToken, taskId } = await call(client, createChildHandle, {
      params,
      idempotencyKey: newId(),
      body: {
        fencingToken,
        correlationId: newId(),
        title: 'child',
        grant: { permissions: ['tasks.read', 'tasks.claim'] },
      },
    })
    const child = under(client, handleToken)
    assert.equal(await codeOf(child, getTask, { params: { ref: taskId } }), 'ok')
    assert.equal(await codeOf(child, listPrincipals, {}), 'child_grant_exceeded')
  })

  it('is asked for once by all who want to know it at the same time', async (t) => {
    const here = await scene()
    const { point } = await policyOf(t, EVERYTHING)
    const asked: string[] = []
    const counting: DecisionPoint = {
      allowed: (subject, resource, actions) => {
        asked.push(resource.type)
        return point.allowed(subject, resource, actions)
      },
      search: (subject, action, wish) => {
        asked.push(action)
        return point.search(subject, action, wish)
      },
    }
    const client = await here.clientOf(policyDecider({ db, point: counting, cacheSeconds: 5 }))
    const readings = Array.from({ length: 10 }, () =>
      codeOf(client, getTask, { params: { ref: here.tasks.leaf.id } }),
    )
    assert.deepEqual(new Set(await Promise.all(readings)), new Set(['ok']))
    assert.deepEqual(asked.toSorted(), ['task', 'tasks.read', 'tenant'])
  })
})
