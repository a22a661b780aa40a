import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SearchHit } from '#contract/memory-context.ts'
import { echoChat } from '#model/chat.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import { entity, fact, recalling } from '../../../test/support/recalling.ts'
import { NOTHING_FOUND } from './ask.ts'

const db = await sharedMemoryDb()

const textsOf = (hits: readonly SearchHit[]) => hits.map(({ text }) => text)

async function library() {
  const memory = recalling(db)
  const scope = { namespace: memory.namespace }
  const put = async (document: object) => {
    const { status, body } = await memory.post('/api/brain/documents', { scope, ...document })
    assert.equal(status, 200, JSON.stringify(body))
  }
  await put({
    natural_key: 'doc:failover',
    title: 'Failover',
    type: 'runbook',
    content: 'Stop the payout worker first, then move the ledger.',
    meta: { product: 'pay', tags: ['ops'] },
    links: [],
  })
  await put({
    natural_key: 'doc:payout',
    title: 'Payout',
    type: 'guide',
    content: 'The payout worker moves money at night.',
    meta: { product: 'cart' },
  })
  await memory.tell({
    content: 'Payout needs the ledger',
    kind: 'decision',
    assertions: [
      entity('service:payout', 'Payout service', { type: 'service' }),
      fact('service:payout', 'USES', 'database:ledger'),
      entity('database:ledger', 'Ledger database', { type: 'database' }),
      fact('database:ledger', 'RUNS_ON', 'cluster:main'),
      entity('cluster:main', 'Main cluster', { type: 'cluster' }),
    ],
  })
  const ask = async (path: string, body: object) => {
    const answer = await memory.post(path, { scope, ...body })
    assert.equal(answer.status, 200, JSON.stringify(answer.body))
    return answer.body
  }
  return { ...memory, scope, ask }
}

describe('POST /api/brain/query', () => {
  it('answers with what was found, its surroundings as far as asked, and sources', async () => {
    const { ask } = await library()
    const query = 'which service pays out: service:payout'
    const one = await ask('/api/brain/query', { query, hops: 1 })
    assert.ok(one.hits.some(({ id }: SearchHit) => id === 'node:service:payout'))
    assert.deepEqual(
      one.neighbours.map((near: { key: string; hops: number }) => [near.key, near.hops]),
      [['database:ledger', 1]],
    )
    const two = await ask('/api/brain/query', { query, hops: 2 })
    assert.deepEqual(
      two.neighbours.map((near: { key: string; hops: number }) => [near.key, near.hops]),
      [
        ['database:ledger', 1],
        ['cluster:main', 2],
      ],
    )
    assert.deepEqual((await ask('/api/brain/query', { query, hops: 0 })).neighbours, [])
    assert.ok(
      one.sources.some((source: { node_key: string }) => source.node_key === 'database:ledger'),
    )
    assert.equal(one.answer, null)
  })

  it('keeps to texts that carry what is asked for, before it counts', async () => {
    const { ask } = await library()
    const find = async (filters: object, path = '/api/brain/query') => {
      const { hits } = await ask(path, { query: 'payout worker', filters })
      return textsOf(hits)
    }
    const failover = ['Stop the payout worker first, then move the ledger.']
    assert.deepEqual(await find({ meta: { product: 'pay' } }), failover)
    assert.deepEqual(await find({ meta: { tags: ['ops'] } }), failover)
    assert.deepEqual(await find({ type: 'runbook' }), failover)
    assert.deepEqual(await find({ meta: { product: 'none' } }), [])
    assert.deepEqual(await find({ meta: { product: 'pay' } }, '/api/brain/search'), failover)
  })

  it('has a model put the answer into words only when there is one and it is asked', async () => {
    const { scope, ask } = await library()
    const { post } = testMemory(db, { llm: echoChat() })
    const query = 'payout worker'
    const answerOf = async (body: object) =>
      (await post('/api/brain/query', { scope, query, ...body })).body.answer
    assert.equal(await answerOf({}), null)
    assert.match(await answerOf({ synthesize: true }), /move the ledger[^]*Question: payout worker/)
    assert.equal(await answerOf({ synthesize: true, query: '?' }), NOTHING_FOUND)
    assert.equal((await ask('/api/brain/query', { query, synthesize: true })).answer, null)
  })

  it('answers without words when the model does not', async () => {
    const { scope } = await library()
    const { post } = testMemory(db, { llm: () => Promise.reject(new Error('busy')) })
    const { status, body } = await post('/api/brain/query', {
      scope,
      query: 'payout worker',
      synthesize: true,
    })
    assert.deepEqual(
      [status, body.answer, body.warnings],
      [200, null, ['the model did not answer']],
    )
    assert.ok(body.hits.length > 0)
  })
})

describe('POST /api/brain/recall', () => {
  it('recalls 4, 8 or 16 fragments', async () => {
    const { tell, ask } = await library()
    await tell(...Array.from({ length: 30 }, (_, i) => ({ content: `Caching note number ${i}` })))
    for (const [budget, count] of [
      ['low', 4],
      ['mid', 8],
      ['high', 16],
    ] as const) {
      const { fragments } = await ask('/api/brain/recall', { query: 'caching note', budget })
      assert.equal(fragments.length, count)
    }
    const { status } = await recalling(db).post('/api/brain/recall', { query: 'x', budget: 'huge' })
    assert.equal(status, 400)
  })
})

describe('POST /api/brain/search with a type', () => {
  it('lists what is of the type by key, as it was', async () => {
    const { ask } = await library()
    const list = async (filters: object, more: object = {}) => {
      const { hits } = await ask('/api/brain/search', { filters, ...more })
      return hits.map(({ id }: SearchHit) => id)
    }
    assert.deepEqual(await list({ type: 'runbook' }), ['node:doc:failover'])
    assert.deepEqual(await list({ type: 'database' }), ['node:database:ledger'])
    assert.deepEqual(await list({ type: 'guide', meta: { product: 'cart' } }), ['node:doc:payout'])
    assert.deepEqual(await list({ type: 'guide', meta: { product: 'pay' } }), [])
    assert.deepEqual(await list({ type: 'database' }, { as_of: '2025-01-01' }), [])
  })
})
