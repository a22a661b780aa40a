import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { memorySources } from '../../../test/support/memory-sources.ts'
import { own, shopPack } from '../../../test/support/packs.ts'
import { decision } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()

interface Fault {
  loc: string
  pointer: string
  kind: string
  key: string
}

/** A namespace that uses a small pack of its own. */
async function shop(strict: boolean) {
  const sources = memorySources(db)
  const { namespace, post, put } = sources
  const pack = shopPack()
  await post('/api/memory/packages', pack.manifest)
  const packages = [pack.manifest.name]
  await put(`/api/memory/namespaces/${namespace}/kinds`, { strict, packages })
  const { product, shelf, holds, lies } = pack
  const ends = (sku: string, on: string) => ({
    from: { kind: product, key: `${product}:acme:${sku}` },
    to: { kind: shelf, key: on },
  })
  return {
    ...sources,
    ...pack,
    item: (sku: string, attributes: object = {}) => ({
      kind: product,
      attributes: { maker: 'acme', sku, ...attributes },
    }),
    on: (sku: string, place: string) => ({ relation: lies, ...ends(sku, place) }),
    held: (sku: string, place: string) => ({
      relation: holds,
      from: ends(sku, place).to,
      to: ends(sku, place).from,
    }),
    shelves: ['shelf-1', 'shelf-2'].map((key) => ({ kind: shelf, key })),
    nodes: async () =>
      (await sources.rows('nodes')).map(({ kind, key, aliases }) => [kind, key, aliases]),
  }
}

describe('a snapshot', () => {
  it('gets keys and further names by the templates of its kinds', async () => {
    const { reconcile, item, product, nodes } = await shop(false)
    const { status, body } = await reconcile('1', 1, {
      entities: [
        { ...item('A1', { label: 'First' }), kind: `${product}_item`, aliases: ['one'] },
        { kind: product, key: `${product}:Other Maker:B2` },
        { kind: 'anything', key: 'else' },
      ],
    })
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual(await nodes(), [
      [product, `${product}:acme:A1`, ['one', 'acme A1', 'First']],
      [product, `${product}:Other Maker:B2`, ['Other Maker B2']],
      ['anything', 'else', []],
    ])
    for (const [entity, told] of [
      [{ kind: product, attributes: { maker: 'acme' } }, /sku/],
      [{ kind: 'anything' }, /is needed/],
    ] as const) {
      const refused = await reconcile('2', 2, { entities: [item('A1'), entity] })
      assert.deepEqual([refused.status, refused.body.errors[0].loc], [400, 'body.entities.1.key'])
      assert.match(refused.body.errors[0].message, told)
    }
    const twice = { entities: [item('A1'), { kind: product, key: `${product}:acme:A1` }] }
    assert.equal((await reconcile('3', 3, twice)).status, 400)
  })

  it('is refused whole by a strict namespace, each fault with pointer, kind and key and no value', async () => {
    const { reconcile, item, on, held, shelves, product, rows, lies } = await shop(true)
    const bad = {
      entities: [
        item('A1', { price: 'SESAME' }),
        { kind: product, key: 'odd key', attributes: { sku: 'B2', parts: ['a', 1] } },
        { kind: 'unheard_of', key: 'x' },
        ...shelves,
      ],
      relations: [
        { ...on('A1', 'shelf-1'), relation: 'unheard_of' },
        { ...held('A1', 'shelf-1'), relation: lies },
      ],
    }
    const { status, body } = await reconcile('1', 1, bad)
    assert.deepEqual([status, body.code], [422, 'snapshot_invalid'])
    assert.deepEqual(
      body.errors.map(({ pointer, kind, key }: Fault) => [pointer, kind, key]),
      [
        ['/entities/0/attributes/price', product, `${product}:acme:A1`],
        ['/entities/1/key', product, 'odd key'],
        ['/entities/1/attributes/parts/1', product, 'odd key'],
        ['/entities/2/kind', 'unheard_of', 'x'],
        ['/relations/0/relation', 'unheard_of', `${product}:acme:A1`],
        ['/relations/1/from/kind', lies, 'shelf-1'],
        ['/relations/1/to/kind', lies, 'shelf-1'],
      ],
    )
    assert.equal(body.errors[0].loc, 'body.entities.0.attributes.price')
    assert.doesNotMatch(JSON.stringify(body), /SESAME/)
    assert.equal((await rows('nodes')).length, 0)
    const good = {
      entities: [item('A1', { price: 3, parts: null }), ...shelves],
      relations: [on('A1', 'shelf-1'), held('A1', 'shelf-1')],
    }
    assert.equal((await reconcile('1', 1, good)).status, 200)
  })

  it('names a pack that is enabled, in the version that is used', async () => {
    const { reconcile, item, manifest } = await shop(false)
    const [name, entities] = [manifest.name, [item('A1')]]
    const told = await reconcile('1', 1, { entities, pack: name })
    assert.deepEqual([told.status, told.body.pack], [200, `${name}@1.0`])
    assert.equal((await reconcile('2', 2, { entities, pack: `${name}@1.0` })).status, 200)
    for (const pack of [`${name}@1.1`, own('other'), 'a b']) {
      const { status, body } = await reconcile('3', 3, { entities, pack })
      assert.deepEqual([status, body.errors[0].loc], [400, 'body.pack'])
    }
    const free = memorySources(db)
    assert.equal((await free.reconcile('1', 1, { entities, pack: name })).status, 200)
    assert.equal((await free.reconcile('2', 2, { entities, pack: own('none') })).status, 400)
  })

  it('replaces the one relation that a subject can have', async () => {
    const { reconcile, item, on, held, shelves, rows, ledger } = await shop(false)
    const entities = [item('A1'), item('B2'), ...shelves]
    const first = [on('A1', 'shelf-1'), on('B2', 'shelf-1'), held('A1', 'shelf-1')]
    await reconcile('1', 1, { entities, relations: first })
    const second = [on('A1', 'shelf-2'), on('B2', 'shelf-1'), held('A1', 'shelf-2')]
    const { body } = await reconcile('2', 2, { entities, relations: second })
    const { opened, closed, superseded, unchanged } = body.relations
    assert.deepEqual([opened, closed, superseded, unchanged], [2, 2, 1, 1])
    const edges = await rows('edges')
    const [old, next] = ['shelf-1', 'shelf-2'].map((object) =>
      edges.find((edge) => edge['object'] === object && String(edge['subject']).endsWith('A1')),
    )
    assert.equal(old?.['supersededBy'], next?.['factId'])
    assert.equal(next?.['supersedes'], old?.['factId'])
    const ended = (await ledger('snapshot_relations')).filter(({ closedBy }) => closedBy !== null)
    assert.deepEqual(new Set(ended.map(({ superseded: by }) => by)), new Set([false, true]))
  })
})

describe('several sources of one entity', () => {
  it('are believed by rank, then by who said it last, whoever repeats it', async () => {
    const { reconcile, item, product, entities } = await shop(false)
    const say = async (source: string, day: number, attributes: object) =>
      await reconcile(`${source}-${day}`, day, { source, entities: [item('A1', attributes)] })
    const known = async () => (await entities({ kinds: [product] }))[0][1]
    await say('crawler', 1, { price: 1, label: 'a', parts: ['x'] })
    await say('partner', 2, { price: 2, label: 'b' })
    assert.deepEqual(await known(), {
      maker: 'acme',
      sku: 'A1',
      price: 2,
      label: 'b',
      parts: ['x'],
    })
    await say('crawler', 3, { price: 1, label: 'c', parts: ['x'] })
    assert.deepEqual(await known(), {
      maker: 'acme',
      sku: 'A1',
      price: 2,
      label: 'c',
      parts: ['x'],
    })
    await say('web', 4, { price: 4 })
    await say('erp', 5, { price: 5 })
    await say('web', 6, { price: 6, label: 'w' })
    assert.deepEqual(await known(), {
      maker: 'acme',
      sku: 'A1',
      price: 5,
      label: 'w',
      parts: ['x'],
    })
    await say('erp', 7, { price: null })
    await say('crawler', 8, { price: 8 })
    assert.deepEqual(await known(), { maker: 'acme', sku: 'A1', price: 6, label: 'w' })
  })
})

describe('an observation in a strict namespace', () => {
  it('is kept, and of its assertions what fits', async () => {
    const { record, product, shelf, lies, rows } = await shop(true)
    const key = `${product}:acme:A1`
    const fact = (predicate: string, object: unknown) => ({
      assert: 'fact',
      fact: { subject: key, predicate, object },
    })
    const { status, body } = await record(
      decision({
        assertions: [
          { assert: 'entity', entity: { key, type: `${product}_item`, properties: { sku: 'A1' } } },
          { assert: 'entity', entity: { key, type: product, properties: { price: -1 } } },
          { assert: 'entity', entity: { key: 'x', type: 'unheard_of' } },
          { assert: 'text', text: { content: 'Free words', type: 'memo' } },
          fact(lies, { key: 'shelf-1', type: shelf }),
          fact(lies, { key: 'x', type: 'unheard_of' }),
          fact('unheard of', { key: 'shelf-1', type: shelf }),
        ],
      }),
    )
    assert.deepEqual([status, body.status], [201, 'partially_processed'])
    assert.match(body.status_detail, /assertions\.1: entity\.properties\.price must be >= 0/)
    assert.match(body.status_detail, /assertions\.2: entity\.type is declared by no pack/)
    assert.match(body.status_detail, /assertions\.5: fact\.object\.type is declared by no pack/)
    assert.match(body.status_detail, /assertions\.6: fact\.predicate is declared by no pack/)
    assert.equal(body.status_detail.split('; ').length, 4)
    assert.equal((await rows('edges')).length, 1)
    const kinds = (await rows('nodes')).map(({ kind }) => kind)
    assert.deepEqual(new Set(kinds), new Set(['memo', product, shelf]))
    const lost = await record(
      decision({
        source: { system: 'chat', stream: 'main', external_id: 'm-2' },
        assertions: [{ assert: 'entity', entity: { key: 'x', type: 'unheard_of' } }],
      }),
    )
    assert.equal(lost.body.status, 'failed')
    assert.equal((await rows('observations')).length, 2)
  })
})

describe('a document in a strict namespace', () => {
  it('is of a kind that is declared', async () => {
    const { post, namespace, product, rows } = await shop(true)
    const put = async (more: object) =>
      await post('/api/brain/documents', {
        namespace,
        natural_key: 'doc:a',
        content: 'Words',
        ...more,
      })
    const unknown = await put({ type: 'unheard_of' })
    assert.deepEqual([unknown.status, unknown.body.code], [422, 'document_invalid'])
    assert.deepEqual(
      unknown.body.errors.map(({ pointer, kind, key }: Fault) => [pointer, kind, key]),
      [['/type', 'unheard_of', 'doc:a']],
    )
    const odd = await put({ type: `${product}_item`, properties: { price: 'SESAME' } })
    assert.deepEqual(
      odd.body.errors.map(({ pointer }: Fault) => pointer),
      ['/natural_key', '/properties/sku', '/properties/price'],
    )
    assert.doesNotMatch(JSON.stringify(odd.body), /SESAME/)
    assert.equal((await rows('nodes')).length, 0)
    assert.equal((await put({})).status, 200)
    const right = { natural_key: `${product}:acme:A1`, properties: { sku: 'A1' } }
    assert.equal((await put({ ...right, type: `${product}_item` })).body.type, product)
  })
})

describe('a namespace that is not strict', () => {
  it('takes any kind, and knows one kind by one name', async () => {
    const { record, product, rows, post, namespace } = await shop(false)
    await record(
      decision({
        assertions: [
          { assert: 'entity', entity: { key: 'p', type: `${product}_item` } },
          {
            assert: 'fact',
            fact: { subject: `${product}_item:q`, predicate: 'is', object: 'any:x' },
          },
        ],
      }),
    )
    const document = { namespace, natural_key: 'd', type: `${product}_item`, content: 'Words' }
    assert.equal((await post('/api/brain/documents', document)).body.type, product)
    const kinds = (await rows('nodes')).map(({ key, kind }) => [key, kind])
    assert.deepEqual(kinds, [
      ['p', product],
      [`${product}_item:q`, product],
      ['any:x', 'any'],
      ['d', product],
    ])
  })
})
