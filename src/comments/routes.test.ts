import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as comments from '#contract/comments.ts'
import * as runs from '#contract/runs.ts'
import * as tasks from '#contract/tasks.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { claimedTask, workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

async function newTask(client: ClientOptions): Promise<string> {
  return (await call(client, tasks.createTask, { body: { title: 'Discuss' } })).id
}

function say(client: ClientOptions, ref: string, body: string) {
  return call(client, comments.createComment, { params: { ref }, body: { body } })
}

function change(client: ClientOptions, id: string, ifMatch: number, body: string) {
  return call(client, comments.updateComment, { params: { id }, ifMatch, body: { body } })
}

describe('comments on a task', () => {
  it('are listed oldest first, page by page', async () => {
    const { client } = await admin()
    const ref = await newTask(client)
    const made = [
      await say(client, ref, 'one'),
      await say(client, ref, 'two'),
      await say(client, ref, 'three'),
    ]
    await say(client, await newTask(client), 'elsewhere')
    const list = (query: object) =>
      call(client, comments.listComments, { params: { ref: 'TASK-000001' }, query })

    assert.deepEqual((await list({})).items, made)
    const first = await list({ limit: '2' })
    const rest = await list({ limit: '2', cursor: first.nextCursor })
    assert.deepEqual([...first.items, ...rest.items], made)
    assert.equal(rest.nextCursor, null)
  })

  it('are changed by their author alone, from the version that was seen', async () => {
    const { client, tenant } = await admin()
    const other = clientOf((await tenant.caller(['tasks.read', 'tasks.write'])).key)
    const { id, authorId } = await say(client, await newTask(client), 'first')

    assert.equal(authorId, tenant.ctx.actorId)
    await assert.rejects(change(other, id, 1, 'taken'), { code: 'permission_denied' })
    assert.equal((await change(client, id, 1, 'second')).version, 2)
    await assert.rejects(change(client, id, 1, 'late'), { code: 'version_conflict' })
    assert.equal((await change(client, id, 2, 'second')).version, 2)
    assert.equal((await change(client, id, 2, 'third')).version, 3)
    const { body, version } = await call(other, comments.getComment, { params: { id } })
    assert.deepEqual([body, version], ['third', 3])
    const revisions = async (query: object = {}) =>
      await call(other, comments.listCommentRevisions, { params: { id }, query })
    assert.deepEqual(
      (await revisions()).items.map((revision) => [revision.version, revision.body]),
      [
        [1, 'first'],
        [2, 'second'],
        [3, 'third'],
      ],
    )
    const page = await revisions({ limit: '2' })
    const rest = await revisions({ limit: '2', cursor: page.nextCursor })
    assert.deepEqual(
      [...page.items, ...rest.items].map((revision) => revision.version),
      [1, 2, 3],
    )
  })

  it('of two changes at the same moment take one', async () => {
    const { client } = await admin()
    const { id } = await say(client, await newTask(client), 'first')
    const outcomes = await Promise.allSettled(
      Array.from({ length: 8 }, (_, index) => change(client, id, 1, `change ${index}`)),
    )
    assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 1)
    const { items } = await call(client, comments.listCommentRevisions, { params: { id } })
    assert.equal(items.length, 2)
  })

  it('never say in the journal what they say', async () => {
    const { client, tenant } = await admin()
    const taskId = await newTask(client)
    const { id } = await say(client, taskId, 'sw0rdf1sh')
    await change(client, id, 1, 'sw0rdf1sh, again')
    const events = await eventsOf(db, tenant.ctx)

    assert.ok(!JSON.stringify(events).includes('sw0rdf1sh'))
    assert.deepEqual(
      events
        .filter(({ entityId }) => entityId === id)
        .map(({ type, entityVersion, payload }) => [type, entityVersion, payload]),
      [
        ['comment.created', 1, { taskId, runId: null }],
        ['comment.updated', 2, { taskId, version: 2 }],
      ],
    )
  })

  it('may come from anyone while somebody else holds the task', async () => {
    const { client, tenant } = await admin()
    const other = clientOf((await tenant.caller(['tasks.write'])).key)
    const { task } = await claimedTask(client)

    assert.equal((await say(other, task.id, 'A hint')).claimId, null)
  })
})

describe('a comment as a run', () => {
  it('is made under the claim of its task and keeps both', async () => {
    const { client, tenant } = await admin()
    const { task, fence } = await claimedTask(client)
    const run = await call(client, runs.startRun, { params: { ref: task.id }, body: fence })
    const speak = (ref: string, body: object) =>
      call(client, comments.createComment, {
        params: { ref },
        body: { body: 'half done', ...body },
      })
    const { fencingToken } = fence

    const comment = await speak(task.id, { runId: run.id, fencingToken })
    assert.deepEqual([comment.runId, comment.claimId], [run.id, fence.claimId])
    assert.equal((await speak(task.id, fence)).runId, null)
    const invalid = { code: 'invalid_request' }
    await assert.rejects(speak(await newTask(client), { runId: run.id, fencingToken }), invalid)
    await assert.rejects(speak(task.id, { runId: run.id }), invalid)
    await assert.rejects(speak(task.id, { fencingToken }), invalid)
    await assert.rejects(
      speak(task.id, { runId: run.id, fencingToken, claimId: crypto.randomUUID() }),
      invalid,
    )
    await call(client, runs.succeedRun, {
      params: { id: run.id },
      body: { fencingToken, completeTask: false },
    })
    await assert.rejects(speak(task.id, { runId: run.id, fencingToken }), {
      code: 'run_not_active',
    })
    const told = (await eventsOf(db, tenant.ctx)).find(({ entityId }) => entityId === comment.id)
    assert.deepEqual(told?.payload, { taskId: task.id, runId: run.id })
  })
})
