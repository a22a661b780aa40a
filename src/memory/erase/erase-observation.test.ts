import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import { tablesHolding } from '../../../test/support/memory-leaks.ts'
import { waitFor } from '../../../test/support/wait.ts'

const db = await sharedMemoryDb()

const MODES = ['redact', 'purge'] as const

/** Says the word in every form that an observation can take. */
const everything = (number: number, word: string) => ({
  source: { system: 'chat', stream: 'main', external_id: `m-${number}` },
  kind: 'decision',
  occurred_at: `2026-01-1${number}T10:00:00Z`,
  content: `The ${word} moves to the north`,
  data: { title: `About ${word}`, nested: { note: word } },
  provenance: { uri: `https://chat.example/${word}` },
  assertions: [
    {
      assert: 'entity',
      entity: {
        key: 'service:pay',
        type: 'service',
        title: `Payments by ${word}`,
        properties: { owner: word, tier: 1 },
        aliases: [`alias ${word}`],
        source_path: `docs/${word}.md`,
      },
    },
    {
      assert: 'fact',
      fact: { subject: 'service:pay', predicate: 'owned by', object: `team:${word}` },
    },
    { assert: 'text', text: { content: `A note: ${word} was here`, meta: { by: word } } },
    {
      assert: 'text',
      text: { key: `note:${number}`, title: word, content: `Kept by key: ${word}` },
    },
  ],
})

function memory() {
  const indexed = testMemory(db)
  const unindexed = testMemory(db, { indexMemoryMb: 0 })
  const { namespace } = indexed
  const scope = { namespace }
  return {
    namespace,
    record: async (observation: object): Promise<string> => {
      const answer = await indexed.post('/api/memory/observations', { ...observation, scope })
      assert.equal(answer.status, 201, JSON.stringify(answer.body))
      assert.equal(answer.body.status, 'processed', JSON.stringify(answer.body))
      return answer.body.observation_id
    },
    send: (observation: object) =>
      indexed.post('/api/memory/observations', { ...observation, scope }),
    erase: (id: string, mode: string, more = '') =>
      indexed.delete(`/api/memory/observations/${id}?namespace=${namespace}&mode=${mode}${more}`),
    /** Everything that any read shows about a word, by either engine. */
    reads: async (query: string) => {
      const said = []
      for (const { post } of [indexed, unindexed]) {
        for (const path of ['/api/brain/search', '/api/memory/context']) {
          for (const knownAt of [undefined, '2030-01-01T00:00:00Z']) {
            const { status, body } = await post(path, {
              query,
              scope,
              ...(path.endsWith('context') && { anchors: ['service:pay'] }),
              ...(knownAt && { known_at: knownAt }),
            })
            assert.equal(status, 200, JSON.stringify(body))
            said.push(body)
          }
        }
      }
      return said
    },
  }
}

describe('B15: what is erased stays erased', () => {
  for (const mode of MODES) {
    it(`by ${mode} leaves its words in no table and no answer, of either engine`, async () => {
      const { namespace, record, erase, reads } = memory()
      const id = await record(everything(1, 'zanzibar'))
      await record({
        kind: 'note',
        content: 'The north is cold',
        occurred_at: '2026-01-12T00:00:00Z',
      })
      assert.match(JSON.stringify(await reads('zanzibar')), /zanzibar was here/)
      const { status, body } = await erase(id, mode)
      assert.equal(status, 200, JSON.stringify(body))
      assert.equal(body.repeated, false)
      const { words, traces, ...removed } = body.removed
      assert.deepEqual(removed, {
        observations: 1,
        chunks: 2,
        nodes: mode === 'purge' ? 4 : 3,
        nodes_changed: 0,
        facts: 1,
        facts_kept: 0,
        links: 0,
      })
      assert.ok(words > 0)
      assert.equal(typeof traces, 'number')
      const held = await tablesHolding(db, namespace, 'zanzibar')
      // A redaction keeps the fact for whoever audits, with the names of its ends.
      const kept = mode === 'redact' ? ['edges', 'nodes'] : []
      // The request of a trace is its reader's own words.
      assert.deepEqual(
        held.filter((table) => table !== 'context_traces'),
        kept,
      )
      for (const answer of await reads('zanzibar')) {
        const { query: _, stats: __, ...said } = answer
        assert.doesNotMatch(JSON.stringify(said), /zanzibar/)
      }
      assert.match(JSON.stringify(await reads('north')), /The north is cold/)
    })

    it(`by ${mode} is not undone by the same observation sent again`, async () => {
      const { record, erase, send, reads } = memory()
      const said = everything(1, 'zanzibar')
      const id = await record(said)
      const first = await erase(id, mode)
      const again = await send(said)
      assert.deepEqual(
        [again.status, again.body],
        [201, { observation_id: id, duplicate: true, status: 'redacted' }],
      )
      const [answer] = await reads('zanzibar')
      assert.deepEqual(answer.hits, [])
      const { status, body } = await erase(id, mode)
      assert.deepEqual([status, body], [200, { ...first.body, repeated: true }])
    })
  }

  it('takes away what it said of an entity, and leaves what others say', async () => {
    const { record, erase, reads } = memory()
    await record({
      ...everything(1, 'zanzibar'),
      assertions: [
        {
          assert: 'entity',
          entity: { key: 'service:pay', title: 'Payments', properties: { tier: 1, state: 'red' } },
        },
        { assert: 'fact', fact: { subject: 'service:pay', predicate: 'uses', object: 'db:one' } },
      ],
    })
    const id = await record({
      ...everything(2, 'quagga'),
      assertions: [
        {
          assert: 'entity',
          entity: {
            key: 'service:pay',
            title: 'Quagga pay',
            properties: { tier: 1, state: 'green' },
          },
        },
        { assert: 'fact', fact: { subject: 'service:pay', predicate: 'uses', object: 'db:one' } },
      ],
    })
    assert.equal((await erase(id, 'purge')).body.removed.facts_kept, 1)
    const said = JSON.stringify(await reads('payments'))
    assert.match(said, /"title":"Payments"/)
    assert.doesNotMatch(said, /quagga/i)
    assert.match(JSON.stringify(await reads('service:pay')), /service:pay —USES→ db:one/)
    const rows = await db`
      select properties
      from nodes
      where key = 'service:pay'
        and valid_to is null
        and retired_at is null
        and namespace_id = (select namespace_id from tombstones where observation_id = ${id})`
    assert.deepEqual(
      rows.map(({ properties }) => properties),
      [{ tier: 1, state: 'red' }],
    )
  })

  it('keeps what it replaced replaced', async () => {
    const { record, erase, reads } = memory()
    const old = await record({
      ...everything(1, 'zanzibar'),
      assertions: [],
      content: 'The limit is one hundred',
    })
    const newer = await record({
      ...everything(2, 'zanzibar'),
      assertions: [],
      content: 'The limit is two hundred',
      data: { supersedes: old },
    })
    await erase(newer, 'purge')
    for (const answer of await reads('limit hundred')) {
      assert.doesNotMatch(JSON.stringify(answer.hits ?? answer.sections), /one hundred|two hundred/)
    }
  })

  it('goes on from a redaction to a purge, never back', async () => {
    const { namespace, record, erase } = memory()
    const id = await record(everything(1, 'zanzibar'))
    await erase(id, 'redact')
    const purged = await erase(id, 'purge')
    assert.deepEqual([purged.body.mode, purged.body.repeated], ['purge', false])
    assert.equal(purged.body.removed.observations, 1)
    assert.deepEqual(await tablesHolding(db, namespace, 'zanzibar'), [])
    const back = await erase(id, 'redact')
    assert.deepEqual([back.body.mode, back.body.repeated], ['purge', true])
  })

  it('takes with it the traces of packs that named it', async () => {
    const { namespace, record, erase, reads } = memory()
    const id = await record(everything(1, 'zanzibar'))
    await reads('zanzibar')
    await waitFor(async () => (await tablesHolding(db, namespace, id)).includes('context_traces'))
    const { body } = await erase(id, 'purge')
    assert.ok(body.removed.traces > 0)
    assert.deepEqual(await tablesHolding(db, namespace, id), ['audit_events', 'tombstones'])
  })

  it('of what has not arrived yet is remembered when asked to', async () => {
    const { namespace, erase, send } = memory()
    const id = 'obs-0123456789abcdef01234567'
    assert.equal((await erase(id, 'purge')).status, 404)
    const { status, body } = await erase(id, 'purge', '&ahead=true')
    assert.deepEqual([status, body.removed.observations], [200, 0])
    assert.equal((await erase(id, 'purge')).body.repeated, true)
    const ahead = await send({ ...everything(3, 'zanzibar'), assertions: [] })
    assert.equal(ahead.body.duplicate, false)
    assert.equal((await tablesHolding(db, namespace, id)).length, 2)
  })

  it('is refused where the caller may not write, and finds nothing elsewhere', async () => {
    const { namespace, record } = memory()
    const id = await record(everything(1, 'zanzibar'))
    const apiKeys = JSON.stringify([
      { key: 'reader', grants: [{ prefix: namespace, read: true }] },
      { key: 'other', grants: [{ prefix: 'other:', write: true }] },
    ])
    const guarded = testMemory(db, { apiKeys })
    const path = `/api/memory/observations/${id}?mode=purge&namespace=`
    assert.equal((await guarded.delete(`${path}${namespace}`, 'reader')).status, 403)
    assert.equal((await guarded.delete(`${path}${namespace}`, 'other')).status, 403)
    assert.equal((await guarded.delete(`${path}other:never`, 'other')).status, 404)
    const namespaces = await db`select 1 from namespaces where namespace = 'other:never'`
    assert.equal(namespaces.length, 0)
    assert.deepEqual(
      (await tablesHolding(db, namespace, 'zanzibar')).includes('observations'),
      true,
    )
  })
})
