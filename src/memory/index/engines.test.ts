import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import type { TestMemory } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()

/** The same memory as two processes see it: one keeps indexes, one has no room for any. */
function twoEngines() {
  const indexed = testMemory(db)
  const unindexed = testMemory(db, { indexMemoryMb: 0 })
  return { indexed, unindexed, scope: { namespace: indexed.namespace } }
}

async function told(memory: TestMemory, scope: object, ...observations: object[]) {
  const { body } = await memory.post('/api/memory/observations:batch', {
    observations: observations.map((one) => ({
      source: { system: 'test', stream: 's', external_id: randomUUID() },
      kind: 'note',
      occurred_at: '2026-01-10T10:00:00Z',
      ...one,
    })),
    scope,
  })
  assert.equal(body.failed, 0, JSON.stringify(body))
  return body.results
}

async function found(memory: TestMemory, body: object) {
  const { status, body: answer } = await memory.post('/api/brain/search', { k: 50, ...body })
  assert.equal(status, 200, JSON.stringify(answer))
  return answer
}

const idsOf = ({ hits }: { hits: { id: string }[] }) => hits.map(({ id }) => id).toSorted()

async function fill({ indexed, scope }: ReturnType<typeof twoEngines>): Promise<void> {
  const old = await told(
    indexed,
    scope,
    { content: 'The rate limit is 100 requests', scopes: ['workspace:a', 'task:1'] },
    {
      content: 'Billing reads the rate table',
      scopes: ['workspace:b'],
      occurred_at: '2026-02-01T00:00:00Z',
    },
    { content: 'A private rate', scopes: ['principal:p1'] },
    { content: 'Everybody knows the rate', occurred_at: '2026-03-01T00:00:00Z' },
    { content: 'Nothing of the kind', scopes: ['task:1'] },
    {
      content: 'Rates as facts',
      assertions: [
        {
          assert: 'entity',
          entity: { key: 'service:rate', type: 'service', title: 'Rate service' },
        },
        {
          assert: 'fact',
          fact: { subject: 'service:rate', predicate: 'serves', object: 'team:billing' },
        },
      ],
    },
  )
  await told(indexed, scope, {
    content: 'The rate limit is 200 requests',
    scopes: ['workspace:a'],
    occurred_at: '2026-02-10T00:00:00Z',
    data: { supersedes: old[0].observation_id },
  })
  for (const text of ['Rates of the first edition', 'Rates of the second edition'])
    await indexed.post('/api/brain/documents', {
      natural_key: 'doc:rates',
      title: 'Rates',
      chunks: [{ text, order: 0 }],
      ...scope,
    })
}

const READERS: readonly (readonly [string, object])[] = [
  ['unrestricted', {}],
  ['of one workspace', { allowed_scopes: ['workspace:a'] }],
  ['of every workspace', { allowed_scopes: ['workspace:*'] }],
  ['of nothing', { allowed_scopes: [] }],
  ['who is somebody', { allowed_scopes: ['principal:p1', 'workspace:b'] }],
  ['kept to what has a place', { allowed_scopes: ['workspace:a', 'placed:only'] }],
  ['with a subject', { scopes: ['task:1'] }],
  ['who stands in a workspace', { scopes: ['workspace:a'], allowed_scopes: ['workspace:a'] }],
  ['of January', { as_of: '2026-01-15T00:00:00Z' }],
  ['of February', { as_of: '2026-02-15T00:00:00Z', allowed_scopes: ['workspace:a'] }],
  ['who knew nothing yet', { known_at: '2026-01-01T00:00:00Z' }],
  ['of one kind', { kinds: ['chunk'] }],
]

describe('the index and the database', () => {
  it('find the same for every reader', async () => {
    const engines = twoEngines()
    await fill(engines)
    const { indexed, unindexed, scope } = engines

    for (const [name, reader] of READERS) {
      const ask = { query: 'rate limits', scope, ...reader }
      const [one, other] = await Promise.all([found(indexed, ask), found(unindexed, ask)])
      assert.equal(one.engine, 'index')
      assert.equal(other.engine, 'database')
      assert.deepEqual(idsOf(one), idsOf(other), `a reader ${name}`)
    }
  })

  it('see what another process wrote as soon as that was acknowledged', async () => {
    const { indexed, unindexed, scope } = twoEngines()
    for (const word of ['alpha', 'beta', 'gamma']) {
      const [{ observation_id: id }] = await told(unindexed, scope, { content: `Told of ${word}` })

      assert.deepEqual(idsOf(await found(indexed, { query: word, scope })), [id])
    }
  })

  it('show a document as it is now, not as it was', async () => {
    const { indexed, scope } = twoEngines()
    const write = (text: string) =>
      indexed.post('/api/brain/documents', {
        natural_key: 'doc:one',
        title: 'One',
        chunks: [{ text, order: 0 }],
        ...scope,
      })
    await write('The harbour opens in spring')
    assert.equal((await found(indexed, { query: 'harbour', scope })).hits.length, 1)

    await write('The airport opens in spring')

    assert.equal((await found(indexed, { query: 'harbour', scope })).hits.length, 0)
    assert.equal((await found(indexed, { query: 'airport', scope })).hits.length, 1)
  })

  it('rank alike for a reader whatever lies where that reader may not look', async () => {
    const { indexed, scope } = twoEngines()
    const reader = { allowed_scopes: ['workspace:a'] }
    await told(
      indexed,
      scope,
      { content: 'Pumps are checked weekly', scopes: ['workspace:a'] },
      { content: 'Valves are checked monthly', scopes: ['workspace:a'] },
    )
    const ask = { query: 'pumps or valves checked', scope, ...reader }
    const before = await found(indexed, ask)

    await told(
      indexed,
      scope,
      ...Array.from({ length: 30 }, (_, i) => ({
        content: `Pumps of the secret site ${i}`,
        scopes: ['workspace:b'],
      })),
    )

    const after = await found(indexed, ask)
    const scores = (answer: typeof before) =>
      answer.hits.map((hit: { id: string; signals: { lexical: object } }) => [
        hit.id,
        hit.signals.lexical,
      ])
    assert.deepEqual(scores(after), scores(before))
  })
})

describe('a question by letters', () => {
  it('finds a name in another alphabet and a word with a typing error, in documents and by no other word', async () => {
    const { indexed, scope } = twoEngines()
    const write = (key: string, text: string) =>
      indexed.post('/api/brain/documents', {
        natural_key: key,
        title: key,
        chunks: [{ text, order: 0 }],
        ...scope,
      })
    await write('doc:a', 'Kubernetes schedules the deployment')
    await write('doc:b', 'Мельбурн лежит на юге')
    await write('doc:c', 'Nothing of interest')
    const first = async (query: string) =>
      (await found(indexed, { query, scope })).hits[0]?.node_key

    assert.equal(await first('kubernetis'), 'doc:a')
    assert.equal(await first('Where is Melburn?'), 'doc:b')
    assert.equal(await first('zzzz qqqq'), undefined)
  })

  it('finds what was said only when no word of it is known', async () => {
    const { indexed, scope } = twoEngines()
    const [{ observation_id: id }] = await told(indexed, scope, {
      content: 'Kubernetes schedules the deployment',
    })

    assert.deepEqual(idsOf(await found(indexed, { query: 'kubernetis', scope })), [id])
    assert.deepEqual(idsOf(await found(indexed, { query: 'deployments', scope })), [id])
  })

  it('knows words that another process taught the namespace', async () => {
    const { indexed, unindexed, scope } = twoEngines()
    await told(indexed, scope, { content: 'Begun in May' })
    await found(indexed, { query: 'May', scope })
    const [{ observation_id: id }] = await told(unindexed, scope, { content: 'Prometheus scrapes' })

    assert.deepEqual(idsOf(await found(indexed, { query: 'promethius', scope })), [id])
  })
})

describe('a question in the other language', () => {
  it('is answered by both engines alike, for words that a reader knows nothing by', async () => {
    const { indexed, unindexed, scope } = twoEngines()
    const reader = { allowed_scopes: ['workspace:a'] }
    const [english, russian] = await told(
      indexed,
      scope,
      { content: 'The dog barks at the teacher', scopes: ['workspace:a'] },
      { content: 'Собака лает на почтальона', scopes: ['workspace:b'] },
      { content: 'Nothing of the kind', scopes: ['workspace:a'] },
    )
    for (const memory of [indexed, unindexed]) {
      const ids = async (query: string, more: object) =>
        idsOf(await found(memory, { query, scope, ...more }))

      assert.deepEqual(await ids('собаки учителя', reader), [english.observation_id])
      assert.deepEqual(
        await ids('dogs and postmen', { allowed_scopes: ['workspace:b'] }),
        [russian.observation_id],
        'a word counts as unknown where all that holds it is hidden',
      )
      assert.deepEqual(await ids('собака', {}), [russian.observation_id], 'a known word is itself')
    }
  })
})
