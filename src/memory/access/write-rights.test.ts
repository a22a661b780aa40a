import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { decision, external, memoryTables, testMemory } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()
const memory = () => memoryTables(db)

describe('who may write', () => {
  const settings = {
    serverApiKey: 'server-key-000001',
    apiKeys: JSON.stringify([
      { key: 'writer', grants: [{ prefix: 'test:', write: true }] },
      { key: 'reader', grants: [{ prefix: 'test:' }] },
    ]),
  }

  it('is whoever a grant covers, and the answer names the first namespace that none does', async () => {
    const { post, get, namespace } = testMemory(db, settings)
    const body = { ...decision(), scope: { namespace } }
    const ask = async (token?: string, to: object = {}) =>
      await post('/api/memory/observations', { ...body, ...to }, token)
    assert.equal((await ask()).status, 401)
    assert.equal((await ask('wrong')).status, 401)
    const refused = await ask('reader')
    assert.deepEqual([refused.status, refused.body.namespace], [403, namespace])
    assert.match(refused.body.detail, new RegExp(namespace))
    const elsewhere = await ask('writer', { scope: { namespace: 'other:1' } })
    assert.deepEqual([elsewhere.status, elsewhere.body.namespace], [403, 'other:1'])
    assert.equal((await ask('writer')).status, 201)
    assert.equal((await ask('server-key-000001')).status, 201)
    assert.equal((await get('/healthz')).status, 200)
    assert.equal((await get(`/api/memory/streams?namespace=${namespace}`, 'reader')).status, 200)
  })

  it('writes only for audiences within the request’s allowed scopes', async () => {
    const { batch, rows } = memory()
    const { body } = await batch(
      [
        decision({ ...external(1), scopes: ['workspace:a', 'task:1'] }),
        decision({ ...external(2), scopes: ['workspace:b'] }),
        decision({ ...external(3), scopes: ['task:2'] }),
      ],
      { allowedScopes: ['workspace:a'] },
    )
    assert.deepEqual([body.accepted, body.failed], [2, 1])
    assert.equal(body.results[1].error.status, 403)
    const stored = await rows('observations')
    assert.deepEqual(stored[0]?.writerVisibility, ['workspace:a'])
  })

  it('hears nothing about a duplicate it cannot see', async () => {
    const { record } = memory()
    const hidden = decision({ scopes: ['workspace:b'] })
    const { body: made } = await record(hidden)
    const repeat = await record({ ...decision(), allowed_scopes: ['workspace:a'] })
    assert.equal(repeat.status, 403)
    assert.doesNotMatch(JSON.stringify(repeat.body), new RegExp(made.observation_id))
    assert.doesNotMatch(JSON.stringify(repeat.body), /duplicate|exists/i)
  })

  it('keeps what is private to its author', async () => {
    const { record, rows } = memory()
    await record(
      decision({
        scopes: ['workspace:a', 'task:1'],
        data: { visibility: 'private' },
        assertions: [
          { assert: 'fact', fact: { subject: 'a:1', predicate: 'is', object: 'a:2' } },
          { assert: 'text', text: { content: 'between us' } },
        ],
      }),
    )
    for (const table of ['observations', 'edges', 'chunks', 'nodes'] as const) {
      for (const row of await rows(table))
        assert.deepEqual(row['audience'], ['principal:p1'], table)
    }
  })
})
