import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { memoryTables, testMemory } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()

function brain() {
  const memory = testMemory(db)
  const { namespace, post } = memory
  const scope = { namespace }
  return {
    ...memory,
    keep: (body: object) => post('/api/brain/retain', { scope, ...body }),
    describe: (body: object) => post('/api/brain/facts', { scope, ...body }),
    found: async (query: string, more: object = {}) => {
      const { body } = await post('/api/brain/search', { query, scope, ...more })
      return body.hits as { id: string; kind: string; text: string; node_key: string }[]
    },
    trail: (id: string) => memory.get(`/api/brain/trace/${id}?namespace=${namespace}`),
    end: (key: string) =>
      memory.delete(
        `/api/brain/nodes?namespace=${namespace}&natural_key=${encodeURIComponent(key)}`,
      ),
  }
}

describe('POST /api/brain/retain', () => {
  it('keeps a text in one chunk, once, with its place in a trace', async () => {
    const { namespace, keep, found, trail } = brain()
    const content = `Deploys stop on Fridays\n\n${'The reasons are many. '.repeat(400)}`
    const provenance = { trace_id: 'run-7', source: 'https://wiki.example/deploys' }
    const first = await keep({ content, provenance })
    assert.equal(first.status, 201, JSON.stringify(first.body))
    const { natural_key: key, ...rest } = first.body
    assert.match(key, /^fact:run-7:[0-9a-f]{16}$/)
    assert.deepEqual(rest, {
      retained: true,
      namespace,
      type: 'note',
      title: 'Deploys stop on Fridays',
      origin: 'agent',
      edges: 1,
      trace: 'run-7',
      unchanged: false,
    })
    assert.equal((await keep({ content, provenance })).body.unchanged, true)
    const hits = (await found('deploys fridays')).filter(({ kind }) => kind === 'chunk')
    assert.deepEqual(
      hits.map(({ node_key: node, text }) => [node, text.length > 5000]),
      [[key, true]],
    )
    const { status, body } = await trail('run-7')
    assert.equal(status, 200)
    assert.deepEqual(
      body.nodes.map((node: Record<string, unknown>) => [node['natural_key'], node['source_path']]),
      [[key, 'https://wiki.example/deploys']],
    )
  })

  it('brings an external id to its newest text', async () => {
    const { keep, found } = brain()
    await keep({ content: 'The zebra limit is ten', external_id: 'limit' })
    await keep({ content: 'The zebra limit is twelve', external_id: 'limit' })
    assert.deepEqual(
      (await found('zebra')).map(({ text }) => text),
      ['The zebra limit is twelve'],
    )
  })

  it('belongs to the run of its request when it names no trace', async () => {
    const { fetch, namespace, keep } = brain()
    assert.equal((await keep({ content: 'Without a run' })).body.trace, null)
    const response = await fetch('/api/brain/retain', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-run-id': 'run-9' },
      body: JSON.stringify({ content: 'Within a run', scope: { namespace } }),
    })
    assert.equal(((await response.json()) as { trace: string }).trace, 'run-9')
  })

  it('refuses what it cannot keep, with the place of the fault', async () => {
    const { keep } = brain()
    for (const [body, loc] of [
      [{ content: ' ' }, 'body.content'],
      [{ content: 'x', scopes: ['nonsense'] }, 'body.scopes.0'],
      [{ content: 'x', confidence: 'high' }, 'body.confidence'],
      [{ content: 'x', provenance: { trace_id: '' } }, 'body.provenance.trace_id'],
    ] as const) {
      const answer = await keep(body)
      assert.equal(answer.status, 400, JSON.stringify(answer.body))
      assert.equal(answer.body.errors[0].loc, loc)
    }
    const beyond = await keep({
      content: 'x',
      scopes: ['workspace:b'],
      allowed_scopes: ['workspace:a'],
    })
    assert.equal(beyond.status, 403)
  })
})

describe('POST /api/brain/facts', () => {
  it('describes a thing by its key and finds it by what it says', async () => {
    const { describe: put, found } = brain()
    const body = { natural_key: 'service:pay', type: 'service', properties: { owner: 'team-a' } }
    const { status, body: made } = await put({ ...body, title: 'Payment walrus' })
    assert.deepEqual([status, made.natural_key, made.title], [201, 'service:pay', 'Payment walrus'])
    assert.equal((await put({ ...body, title: 'Payment walrus' })).body.unchanged, true)
    assert.equal((await found('walrus'))[0]?.node_key, 'service:pay')
  })
})

describe('DELETE /api/brain/nodes', () => {
  it('ends a node with its texts and facts, once, and notes who did', async () => {
    const { namespace, keep, post, end, found, trail, fetch } = brain()
    await keep({ content: 'The walrus plan', external_id: 'plan:a' })
    await post('/api/memory/observations', {
      scope: { namespace },
      kind: 'note',
      assertions: [
        { assert: 'fact', fact: { subject: 'plan:a', predicate: 'needs', object: 'thing:walrus' } },
      ],
    })
    const path = `/api/brain/nodes?namespace=${namespace}&natural_key=plan:a`
    const response = await fetch(path, { method: 'DELETE', headers: { 'x-run-id': 'run-3' } })
    assert.deepEqual(await response.json(), {
      natural_key: 'plan:a',
      namespace,
      deleted: true,
      nodes: 1,
      chunks: 1,
      edges: 1,
    })
    assert.equal((await end('plan:a')).status, 404)
    assert.equal((await end('never:there')).status, 404)
    assert.deepEqual(await found('walrus plan'), [])
    const { body } = await trail('run-3')
    assert.deepEqual(
      body.events.map((event: Record<string, unknown>) => [event['action'], event['target']]),
      [['node.delete', 'plan:a']],
    )
  })

  it('leaves the trail alone, and so does everything else that writes', async () => {
    const { namespace, end, keep, post, trail } = brain()
    const audit = {
      scope: { namespace },
      action: 'deploy',
      content: 'It went out',
      trace_id: 't-1',
    }
    const { status, body } = await post('/api/brain/audit', audit)
    assert.equal(status, 201)
    const keys = [body.natural_key, 'pc-trace:t-1']
    for (const key of keys) {
      const refused = await end(key)
      assert.deepEqual([refused.status, refused.body.errors[0].loc], [400, 'query.natural_key'])
      assert.equal((await keep({ content: 'Another story', external_id: key })).status, 403)
      const said = await post('/api/memory/observations', {
        scope: { namespace },
        kind: 'note',
        assertions: [{ assert: 'entity', entity: { key, title: 'Another story' } }],
      })
      assert.equal(said.body.status, 'failed')
    }
    const { body: told } = await trail('t-1')
    assert.equal(told.events[0].content, 'It went out')
    for (const change of [db`delete from audit_events`, db`update audit_events set action = 'x'`]) {
      await assert.rejects(async () => await change, /never changed or removed/)
    }
    assert.equal((await trail('t-2')).status, 404)
  })
})

describe('POST /api/memory/facts/{id}:invalidate', () => {
  it('ends a fact that nothing replaces, once', async () => {
    const { namespace, post, record } = memoryTables(db)
    await record({
      kind: 'note',
      occurred_at: '2026-01-10T00:00:00Z',
      assertions: [
        { assert: 'fact', fact: { subject: 'team:a', predicate: 'owns', object: 'app:walrus' } },
      ],
    })
    const scope = { namespace }
    const facts = async (asOf?: string) =>
      (await post('/api/brain/search', { query: 'walrus', kinds: ['fact'], scope, as_of: asOf }))
        .body.hits
    const [fact] = await facts()
    const path = `/api/memory/facts/${fact.id}:invalidate`
    const at = '2026-02-01T00:00:00Z'
    const { status, body } = await post(path, { scope, at, reason: 'It was sold' })
    assert.deepEqual([status, body.valid_to, body.invalidated], [200, at, true])
    assert.deepEqual(await facts(), [])
    assert.equal((await facts('2026-01-20T00:00:00Z')).length, 1)
    assert.equal((await post(path, { scope })).body.invalidated, false)
    assert.equal((await post(path, { scope: { namespace: `${namespace}:b` } })).status, 404)
  })
})

describe('POST /api/memory/consolidate', () => {
  const hidden = { assert: 'entity', entity: { key: 'service:x', title: 'Walrus service' } }

  it('uses again what could not be used, the oldest first, as often as it is asked', async () => {
    const { namespace, post, record, rows } = memoryTables(db)
    const scope = { namespace }
    await record({ kind: 'note', scopes: ['workspace:a'], assertions: [hidden] })
    const narrow = { scopes: ['workspace:b'], allowed_scopes: ['workspace:b'] }
    for (const content of ['first', 'second']) {
      const { body } = await record({ kind: 'note', content, ...narrow, assertions: [hidden] })
      assert.equal(body.status, 'failed')
    }
    const again = (query: string, more: object = {}) =>
      post(`/api/memory/consolidate?namespace=${namespace}${query}`, more)
    const still = await again('')
    assert.deepEqual(still.body, {
      namespace,
      reprocessed: 2,
      statuses: { failed: 2 },
      remaining: 0,
    })
    await db`
      update nodes
      set scopes = '{}'
      where namespace_id = (select id from namespaces where namespace = ${namespace})`
    const first = await again('&limit=1')
    assert.deepEqual(
      [first.body.reprocessed, first.body.statuses, first.body.remaining],
      [1, { processed: 1 }, 1],
    )
    const statuses = (await rows('observations')).map(({ content, status }) => [content, status])
    assert.deepEqual(statuses, [
      [null, 'processed'],
      ['first', 'processed'],
      ['second', 'failed'],
    ])
    assert.deepEqual((await again('', { scope })).body.statuses, { processed: 1 })
    assert.equal((await again('')).body.reprocessed, 0)
    assert.equal((await again('&limit=0')).status, 400)
  })

  it('leaves alone what its caller may not see', async () => {
    const { namespace, post, record } = memoryTables(db)
    await record({ kind: 'note', scopes: ['workspace:a'], assertions: [hidden] })
    const narrow = { scopes: ['workspace:b'], allowed_scopes: ['workspace:b'] }
    await record({ kind: 'note', ...narrow, assertions: [hidden] })
    const { body } = await post(`/api/memory/consolidate?namespace=${namespace}`, {
      allowed_scopes: ['workspace:c'],
    })
    assert.deepEqual([body.reprocessed, body.remaining], [0, 0])
  })
})
