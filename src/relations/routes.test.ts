import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import * as relations from '#contract/relations.ts'
import type { RelationType } from '#contract/relations.ts'
import * as tasks from '#contract/tasks.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin } = workClients(db)

async function newTasks(client: ClientOptions, count: number): Promise<string[]> {
  const made: string[] = []
  for (let number = 1; number <= count; number += 1) {
    made.push((await call(client, tasks.createTask, { body: { title: `Task ${number}` } })).id)
  }
  return made
}

function relate(client: ClientOptions, from: string, type: RelationType, to: string) {
  const body = { type, toTask: to }
  return call(client, relations.addRelation, { params: { ref: from }, body })
}

/** The code of a refusal, or `added`. */
async function outcome(attempt: Promise<unknown>): Promise<string> {
  return await attempt.then(
    () => 'added',
    (error: unknown) => (error as { code: string }).code,
  )
}

describe('relations of a task', () => {
  it('are added, listed by type and direction, and removed from either end', async () => {
    const { client, tenant } = await admin()
    const [a = '', b = '', c = ''] = await newTasks(client, 3)
    const first = await relate(client, a, 'depends_on', b)
    const second = await relate(client, c, 'parent', 'TASK-000001')
    const list = async (ref: string, query: object = {}) =>
      (await call(client, relations.listRelations, { params: { ref }, query })).items

    assert.deepEqual(
      [first.fromTaskPublicId, first.toTaskPublicId, first.type],
      ['TASK-000001', 'TASK-000002', 'depends_on'],
    )
    assert.deepEqual(await list(a), [second, first])
    assert.deepEqual(await list(a, { direction: 'out' }), [first])
    assert.deepEqual(await list(a, { direction: 'in' }), [second])
    assert.deepEqual(await list(a, { type: 'parent' }), [second])
    const page = await call(client, relations.listRelations, {
      params: { ref: a },
      query: { limit: '1' },
    })
    assert.deepEqual(await list(a, { cursor: page.nextCursor }), [first])

    const remove = () =>
      call(client, relations.removeRelation, { params: { ref: b, id: first.id } })
    await assert.rejects(
      call(client, relations.removeRelation, { params: { ref: c, id: first.id } }),
      { code: 'not_found' },
    )
    assert.deepEqual(await remove(), first)
    await assert.rejects(remove(), { code: 'not_found' })
    assert.deepEqual(await list(b), [])
    const events = await eventsOf(db, tenant.ctx)
    assert.deepEqual(
      events
        .filter(({ type }) => type.startsWith('task.relation'))
        .map(({ type, entityId, entityVersion, payload }) => [
          type,
          entityId,
          entityVersion,
          payload,
        ]),
      [
        ['task.relation_added', a, 2, { relationId: first.id, toTaskId: b, type: 'depends_on' }],
        ['task.relation_added', c, 2, { relationId: second.id, toTaskId: a, type: 'parent' }],
        [
          'task.relation_removed',
          a,
          3,
          { relationId: first.id, fromTaskId: a, toTaskId: b, type: 'depends_on' },
        ],
      ],
    )
  })

  it('exist once, a task has one parent, and "relates to" is the same both ways', async () => {
    const { client } = await admin()
    const [a = '', b = '', c = ''] = await newTasks(client, 3)
    const exists = 'relation_exists'

    assert.equal(await outcome(relate(client, a, 'depends_on', b)), 'added')
    assert.equal(await outcome(relate(client, a, 'depends_on', b)), exists)
    assert.equal(await outcome(relate(client, a, 'parent', b)), 'added')
    assert.equal(await outcome(relate(client, a, 'parent', c)), exists)
    assert.equal(await outcome(relate(client, a, 'relates_to', b)), 'added')
    assert.equal(await outcome(relate(client, b, 'relates_to', a)), exists)
    assert.equal(await outcome(relate(client, c, 'relates_to', c)), 'dependency_cycle')
    const nobody = crypto.randomUUID()
    assert.equal(await outcome(relate(client, a, 'depends_on', nobody)), 'not_found')
    assert.equal(await outcome(relate(client, a, 'depends_on', 'TASK-000099')), 'not_found')
  })

  it('never go in a circle of one type, however long', async () => {
    const { client } = await admin()
    const line = await newTasks(client, 12)
    for (const type of ['depends_on', 'parent', 'spawned_by'] as const) {
      for (const [index, task] of line.slice(1).entries()) {
        await relate(client, line[index] ?? '', type, task)
      }
      const [first = ''] = line
      const last = line.at(-1) ?? ''
      assert.equal(await outcome(relate(client, last, type, first)), 'dependency_cycle')
      assert.equal(await outcome(relate(client, first, type, first)), 'dependency_cycle')
    }
    const [second = '', first = ''] = [line[1], line[0]]
    assert.equal(await outcome(relate(client, second, 'relates_to', first)), 'added')
  })
})

describe('relations that would close a circle together', () => {
  it('are one winner and one dependency_cycle, whichever comes first', async () => {
    const { client } = await admin()
    for (let round = 0; round < 20; round += 1) {
      const [a = '', b = ''] = await newTasks(client, 2)
      const outcomes = await Promise.all([
        outcome(relate(client, a, 'depends_on', b)),
        outcome(relate(client, b, 'depends_on', a)),
      ])
      assert.deepEqual(outcomes.toSorted(), ['added', 'dependency_cycle'])
    }
  })

  it('lose exactly one of a ring, when all of it comes at the same moment', async () => {
    const { client } = await admin()
    const ring = await newTasks(client, 6)
    const outcomes = await Promise.all(
      ring.map((task, index) =>
        outcome(relate(client, task, 'parent', ring[(index + 1) % ring.length] ?? '')),
      ),
    )
    assert.deepEqual(outcomes.toSorted(), [...Array(5).fill('added'), 'dependency_cycle'])
  })
})
