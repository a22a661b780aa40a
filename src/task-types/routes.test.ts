import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { call } from '#client/client.ts'
import * as taskTypes from '#contract/task-types.ts'
import * as tasks from '#contract/tasks.ts'
import { sharedDb } from '../../test/support/db.ts'
import { eventsOf } from '../../test/support/leases.ts'
import { REVIEWED } from '../../test/support/reviewed-type.ts'
import { workClients } from '../../test/support/work.ts'

const db = await sharedDb()
const { admin, clientOf } = workClients(db)

describe('task types', () => {
  it('of a new tenant are the one that comes with the product', async () => {
    const { client } = await admin()
    const { items } = await call(client, taskTypes.listTaskTypes)

    assert.deepEqual(
      items.map(({ key, version, createdBy }) => [key, version, createdBy]),
      [['default', 1, null]],
    )
    const task = await call(client, tasks.createTask, { body: { title: 'Plain' } })
    assert.deepEqual(
      [task.typeKey, task.typeVersion, task.status, task.systemStatusCategory],
      ['default', 1, 'open', 'open'],
    )
  })

  it('get a version for every change, and what was there before stays', async () => {
    const { client, tenant } = await admin()
    const first = await call(client, taskTypes.createTaskType, { body: REVIEWED })
    const body = { ...REVIEWED, displayName: 'Reviewed', customFieldsSchema: null }
    const second = await call(client, taskTypes.createTaskType, { body })
    const own = await call(client, taskTypes.createTaskType, {
      body: { ...REVIEWED, key: 'default' },
    })

    assert.deepEqual([first.version, second.version, own.version], [1, 2, 2])
    const params = { key: 'reviewed' }
    assert.deepEqual(await call(client, taskTypes.getTaskType, { params }), second)
    assert.deepEqual(
      await call(client, taskTypes.getTaskTypeVersion, { params: { ...params, version: '1' } }),
      first,
    )
    const list = async (query: object) =>
      (await call(client, taskTypes.listTaskTypes, { query })).items.map(
        ({ key, version }) => `${key} ${version}`,
      )
    assert.deepEqual(await list({ key: 'reviewed' }), ['reviewed 2', 'reviewed 1'])
    assert.deepEqual(await list({ versions: 'newest' }), ['default 2', 'reviewed 2'])
    await assert.rejects(
      call(client, taskTypes.getTaskTypeVersion, { params: { ...params, version: '3' } }),
      { code: 'not_found' },
    )
    const events = await eventsOf(db, tenant.ctx)
    assert.deepEqual(
      events.filter(({ type }) => type === 'task_type.created').map(({ payload }) => payload),
      [
        { key: 'reviewed', version: 1, displayName: 'Reviewed work' },
        { key: 'reviewed', version: 2, displayName: 'Reviewed' },
        { key: 'default', version: 2, displayName: 'Reviewed work' },
      ],
    )
  })

  it('get each version once when many come at the same moment', async () => {
    const { client } = await admin()
    const made = await Promise.all(
      Array.from({ length: 8 }, () => call(client, taskTypes.createTaskType, { body: REVIEWED })),
    )
    assert.deepEqual(
      made.map(({ version }) => version).toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6, 7, 8],
    )
  })

  it('are refused by the place of what cannot work', async () => {
    const { client, tenant } = await admin()
    const refusal = async (change: object) => {
      const body = { ...REVIEWED, ...change }
      const error: unknown = await call(client, taskTypes.createTaskType, { body }).then(
        () => assert.fail('it was taken'),
        (reason: unknown) => reason,
      )
      const { code, details } = error as { code: string; details: { errors: { loc: string }[] } }
      return [code, ...details.errors.map(({ loc }) => loc)]
    }
    const lifecycle = REVIEWED.lifecycleSchema
    const invalid = 'invalid_task_type'

    assert.deepEqual(
      await refusal({ lifecycleSchema: { ...lifecycle, initialStatus: 'absent' } }),
      [invalid, 'body.lifecycleSchema.initialStatus'],
    )
    assert.deepEqual((await refusal({ customFieldsSchema: { type: 'text' } })).slice(0, 2), [
      invalid,
      'body.customFieldsSchema.type',
    ])
    assert.deepEqual(await refusal({ customFieldsSchema: { $ref: 'https://example.org/other' } }), [
      invalid,
      'body.customFieldsSchema',
    ])
    assert.deepEqual(await refusal({ instructions: 'я'.repeat(8193) }), [
      invalid,
      'body.instructions',
    ])
    assert.deepEqual(await refusal({ contextSchema: { note: 'x'.repeat(65_537) } }), [
      invalid,
      'body.contextSchema',
    ])
    const events = await eventsOf(db, tenant.ctx)
    assert.ok(!events.some(({ type }) => type === 'task_type.created'))
  })

  it('are read and made only by those who may', async () => {
    const { tenant } = await admin()
    const { key } = await tenant.caller(['task_types.read'])
    const reader = clientOf(key)

    assert.equal((await call(reader, taskTypes.listTaskTypes)).items.length, 1)
    await assert.rejects(call(reader, taskTypes.createTaskType, { body: REVIEWED }), {
      code: 'permission_denied',
    })
  })
})
