import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call, send } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as artifacts from '#contract/artifacts.ts'
import * as references from '#contract/external-references.ts'
import * as tasks from '#contract/tasks.ts'
import * as workspaces from '#contract/workspaces.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

const ISSUE = { system: 'github', type: 'issue', externalId: 'acme/app#42' }

async function newTask(client: ClientOptions): Promise<string> {
  return (await call(client, tasks.createTask, { body: { title: 'Fix it' } })).id
}

async function add(client: ClientOptions, ref: string, body: references.NewExternalReference) {
  const response = await send(client, references.addTaskReference, { params: { ref }, body })
  const reply = (await response.json()) as references.ExternalReference & {
    error?: { code: string; details: object }
  }
  return { status: response.status, reply }
}

describe('an external reference', () => {
  it('is one thing here: made once, the same again, and refused to another', async () => {
    const { client, tenant } = await admin()
    const [task, other] = [await newTask(client), await newTask(client)]
    const url = 'https://example.org/acme/app/issues/42'
    const first = await add(client, task, { ...ISSUE, url })
    const again = await add(client, task, ISSUE)
    const taken = await add(client, other, ISSUE)

    assert.deepEqual([first.status, again.status, taken.status], [201, 200, 409])
    assert.deepEqual(again.reply, first.reply)
    assert.deepEqual([first.reply.entityType, first.reply.entityId], ['task', task])
    const { code, details } = taken.reply.error ?? {}
    assert.deepEqual(
      [code, details],
      ['external_reference_conflict', { entityType: 'task', entityId: task }],
    )
    assert.equal((await add(client, other, { ...ISSUE, type: 'pull_request' })).status, 201)
    const events = await eventsOf(db, tenant.ctx)
    assert.deepEqual(
      events.filter(({ entityId }) => entityId === first.reply.id).map(({ payload }) => payload),
      [{ entityType: 'task', entityId: task, ...ISSUE }],
    )
    const { client: stranger } = await admin()
    assert.equal((await add(stranger, await newTask(stranger), ISSUE)).status, 201)
  })

  it('goes to exactly one of many that ask at the same moment', async () => {
    const { client } = await admin()
    const all = await Promise.all(Array.from({ length: 6 }, () => newTask(client)))
    const answers = await Promise.all(
      [...all, ...all].map(async (task) => ({ task, ...(await add(client, task, ISSUE)) })),
    )
    const [winner] = answers.filter(({ status }) => status === 201)
    assert.ok(winner)
    for (const { task, status } of answers.filter((answer) => answer !== winner)) {
      assert.equal(status, task === winner.task ? 200 : 409)
    }
  })

  it('of a task, a workspace and an artifact is listed with it, removed, and free again', async () => {
    const { client } = await admin()
    const ref = await newTask(client)
    const { id } = await call(client, workspaces.createWorkspace, {
      body: { slug: 'app', name: 'App' },
    })
    const artifact = await call(client, artifacts.createArtifact, {
      body: { type: 'note', name: 'Note' },
    })
    const named = (type: string) => ({ body: { ...ISSUE, type } })
    const one = await call(client, references.addTaskReference, {
      params: { ref },
      ...named('one'),
    })
    const two = await call(client, references.addWorkspaceReference, {
      params: { id },
      ...named('two'),
    })
    const three = await call(client, references.addArtifactReference, {
      params: { id: artifact.id },
      ...named('three'),
    })
    const listed = async () => [
      (await call(client, references.listTaskReferences, { params: { ref } })).items,
      (await call(client, references.listWorkspaceReferences, { params: { id } })).items,
      (await call(client, references.listArtifactReferences, { params: { id: artifact.id } }))
        .items,
    ]

    assert.deepEqual(await listed(), [[one], [two], [three]])
    assert.deepEqual(
      await call(client, references.findExternalReference, { query: { ...ISSUE, type: 'two' } }),
      two,
    )
    const removeTwo = (of: string) =>
      call(client, references.removeWorkspaceReference, {
        params: { id, referenceId: of },
      })
    await assert.rejects(removeTwo(one.id), { code: 'not_found' })
    assert.deepEqual(await removeTwo(two.id), two)
    await assert.rejects(removeTwo(two.id), { code: 'not_found' })
    await call(client, references.removeTaskReference, { params: { ref, referenceId: one.id } })
    await call(client, references.removeArtifactReference, {
      params: { id: artifact.id, referenceId: three.id },
    })
    assert.deepEqual(await listed(), [[], [], []])
    assert.equal((await add(client, ref, { ...ISSUE, type: 'two' })).status, 201)
  })

  it('is found by those alone who may see what it names', async () => {
    const { client, tenant } = await admin()
    const reference = (await add(client, await newTask(client), ISSUE)).reply
    const reader = clientOf((await tenant.caller(['tasks.read'])).key)
    const other = clientOf((await tenant.caller(['workspaces.manage', 'workspaces.read'])).key)
    const find = (as: ClientOptions) => call(as, references.findExternalReference, { query: ISSUE })

    assert.deepEqual(await find(reader), reference)
    await assert.rejects(find(other), { code: 'not_found' })
    const { id } = await call(client, workspaces.createWorkspace, {
      body: { slug: 'app', name: 'App' },
    })
    await assert.rejects(
      call(other, references.addWorkspaceReference, { params: { id }, body: ISSUE }),
      { code: 'external_reference_conflict', details: { status: 409 } },
    )
  })
})
