import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { SearchHit } from '#contract/memory-context.ts'
import { sharedMemoryDb } from '../../test/support/db.ts'
import { entity, fact, recalling } from '../../test/support/recalling.ts'

const db = await sharedMemoryDb()
const ids = (hits: SearchHit[]) => hits.map(({ id }) => id)

const spoken = (minute: number, content: string, session: string) => ({
  content,
  scopes: [`session:${session}`],
  at: `2026-01-10T10:0${minute}:00Z`,
})
const by = (id: string) => ({
  actor: { type: 'principal', id },
  content: 'I love pottery, love it',
})
const on = (at: string) => ({ content: 'We met the customer', at })

describe('POST /api/brain/search', () => {
  it('ranks all kinds together, best first, with where each came from', async () => {
    const { tell, search } = recalling(db)
    await tell({
      content: 'Falcon is deployed by the gold team',
      source: { system: 'chat', stream: 'main', external_id: 'm-1' },
      assertions: [
        entity('service:falcon', 'Falcon', { properties: { about: 'deployment gate' } }),
        fact('service:falcon', 'OWNED_BY', 'team:gold'),
        {
          assert: 'text',
          text: { key: 'doc:falcon', title: 'Falcon', content: 'How falcon works' },
        },
      ],
    })
    const hits: SearchHit[] = await search('falcon')
    assert.deepEqual(
      new Set(hits.map(({ kind }) => kind)),
      new Set(['observation', 'fact', 'entity', 'chunk']),
    )
    const scores = hits.map(({ score }) => score)
    assert.deepEqual(
      scores,
      scores.toSorted((a, b) => b - a),
    )
    const observation = hits.find(({ kind }) => kind === 'observation')
    assert.deepEqual(observation?.source, { system: 'chat', stream: 'main', external_id: 'm-1' })
    const chunk = hits.find(({ kind }) => kind === 'chunk')
    assert.deepEqual([chunk?.node_key, chunk?.chunk_order], ['doc:falcon', 0])
    assert.deepEqual(
      hits.filter(({ node_key: key }) => key === 'doc:falcon').map(({ kind }) => kind),
      ['chunk'],
    )
  })

  it('takes k and filters.limit for the same thing and narrows by kinds', async () => {
    const { tell, search } = recalling(db)
    await tell(...Array.from({ length: 30 }, (_, i) => ({ content: `heron number ${i}` })))
    assert.equal((await search('heron')).length, 20)
    assert.equal((await search('heron', { k: 5 })).length, 5)
    assert.equal((await search('heron', { filters: { limit: 7 } })).length, 7)
    assert.equal((await search('heron', { k: 100 })).length, 30)
    assert.deepEqual(await search('heron', { kinds: ['fact'] }), [])
  })

  it('finds an answer by the words of the question before it', async () => {
    const { tell, search } = recalling(db)
    const [, answer] = await tell(
      spoken(0, 'Where did you adopt your dog?', 'a'),
      spoken(1, 'At the shelter on Elm Street.', 'a'),
      spoken(2, 'That is lovely.', 'a'),
      spoken(3, 'At the cinema on Oak Street.', 'b'),
    )
    assert.ok(
      ids(await search('where was the dog adopted'))
        .slice(0, 2)
        .includes(String(answer)),
    )
  })

  it('raises the words of the author who is asked about, in any script', async () => {
    const { tell, search } = recalling(db)
    const [caroline, melanie] = await tell(by('Caroline'), by('Melanie'))
    assert.equal(ids(await search('Does Caroline love pottery?'))[0], caroline)
    assert.equal(ids(await search('Does Melanie love pottery?'))[0], melanie)
    assert.equal(ids(await search('Does Мелани love pottery?'))[0], melanie)
  })

  it('raises what happened near the date asked about', async () => {
    const { tell, search } = recalling(db)
    const [march, june] = await tell(on('2026-03-03T09:00:00Z'), on('2026-06-05T09:00:00Z'))
    const find = async (query: string) =>
      ids(await search(query, { as_of: '2026-12-01T00:00:00Z' }))[0]
    assert.equal(await find('Who met the customer on 3 March 2026?'), march)
    assert.equal(await find('встреча customer 5 июня 2026'), june)
  })

  it('finds the rare word among thousands of items that share the common ones', async () => {
    const { tell, search } = recalling(db)
    const [needle] = await tell({ content: 'deploy finished, curlew rolled back' })
    for (let batch = 0; batch < 5; batch++) {
      await tell(
        ...Array.from({ length: 500 }, (_, i) => ({
          content: `deploy ${batch} finished`,
          at: `2026-01-11T${String(batch).padStart(2, '0')}:00:00.${String(i).padStart(3, '0')}Z`,
        })),
      )
    }
    const hits: SearchHit[] = await search('which deploy finished with the curlew?')
    assert.equal(hits[0]?.id, needle)
    assert.equal(hits.length, 20)
    assert.equal((await search('deploy finished', { k: 200 })).length, 200)
  })

  it('is seen at once by a search after the write is acknowledged', async () => {
    const { tell, search } = recalling(db)
    for (let i = 0; i < 10; i++) {
      const [id] = await tell({ content: `ibis${i}` })
      assert.equal(ids(await search(`ibis${i}`))[0], id)
    }
  })

  it('shows only what its reader may see, at the moment asked about', async () => {
    const { tell, search } = recalling(db)
    const [old] = await tell({ content: 'Stork nests north', at: '2026-01-01T00:00:00Z' })
    const [hidden] = await tell({ content: 'Stork nests south', scopes: ['workspace:w'] })
    const [next] = await tell({
      content: 'Stork nests east',
      at: '2026-02-01T00:00:00Z',
      data: { supersedes: old },
    })
    assert.deepEqual(new Set(ids(await search('stork'))), new Set([hidden, next]))
    assert.deepEqual(ids(await search('stork', { allowed_scopes: [] })), [next])
    assert.deepEqual(ids(await search('stork', { as_of: '2026-01-02T00:00:00Z' })), [old])
    assert.deepEqual(ids(await search('stork', { known_at: '2025-01-02T00:00:00Z' })), [])
  })

  it('keeps to the namespaces that a request and its key allow', async () => {
    const { tell, post, namespace } = recalling(db)
    await tell({ content: 'Crane' })
    const ask = async (more: object) => {
      const { status } = await post('/api/brain/search', {
        query: 'crane',
        scope: { namespace },
        ...more,
      })
      return status
    }
    assert.equal(await ask({ allowed_namespaces: null }), 200)
    assert.equal(await ask({ allowed_namespaces: [namespace] }), 200)
    assert.equal(await ask({ allowed_namespaces: [] }), 403)
    assert.equal(await ask({ allowed_namespaces: ['other'] }), 403)
    assert.equal(await ask({ scope: { namespace: 'Bad Name' } }), 400)
  })
})
