import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'
import { own, shopPack } from '../../../test/support/packs.ts'

const db = await sharedMemoryDb()
const memory = testMemory(db)
const PACKS = '/api/memory/packages'

const { put } = memory
const kindsOf = (namespace: string) => `/api/memory/namespaces/${namespace}/kinds`

/** A pack with one kind, which is faulty. */
const faulty = (kind: object, more: object = {}) => ({
  name: own('faulty'),
  version: '1',
  kinds: [{ kind: 'thing', ...kind }],
  ...more,
})

const many = (count: number, of: (n: number) => unknown) =>
  Array.from({ length: count }, (_, n) => of(n))

describe('registering a pack', () => {
  it('keeps each version as it was first told', async () => {
    const { post, get } = memory
    const { manifest } = shopPack()
    const made = await post(PACKS, manifest)
    assert.deepEqual(
      [made.status, made.body.created, made.body.ref],
      [201, true, `${manifest.name}@1.0`],
    )
    assert.equal((await post(PACKS, manifest)).status, 200)
    const other = await post(PACKS, { ...manifest, relations: [] })
    assert.deepEqual([other.status, other.body.code], [409, 'pack_version_conflict'])
    for (const version of [1.9, '1.10', '1.10-rc']) {
      assert.equal((await post(PACKS, { ...manifest, version })).status, 201)
    }
    const newest = await get(`${PACKS}/${manifest.name}`)
    assert.equal(newest.body.version, '1.10')
    assert.equal(newest.body.kinds[0].naturalKey, manifest.kinds[0]?.naturalKey)
    assert.equal((await get(`${PACKS}/${manifest.name}@1.9`)).body.version, '1.9')
    assert.equal((await get(`${PACKS}/${manifest.name}@2`)).status, 404)
    const { body } = await get(PACKS)
    const listed = body.packages.find(({ name }: { name: string }) => name === manifest.name)
    assert.deepEqual(listed.versions, ['1.10', '1.10-rc', '1.9', '1.0'])
  })

  it('refuses what cannot be used, each fault at its place', async () => {
    const { post } = memory
    for (const [body, loc] of [
      [faulty({ naturalKey: '<a><b>' }), 'body.kinds.0.naturalKey'],
      [faulty({ naturalKey: { type: 'nothing' } }), 'body.kinds.0.naturalKey'],
      [faulty({ aliases: ['plain'] }), 'body.kinds.0.aliases.0'],
      [faulty({ aliases: many(21, () => '<a>') }), 'body.kinds.0.aliases'],
      [faulty({ idPatterns: ['(a'] }), 'body.kinds.0.idPatterns.0'],
      [faulty({ idPatterns: ['(?=a)b'] }), 'body.kinds.0.idPatterns.0'],
      [faulty({ idPatterns: ['((a{1,99}){1,99}){1,99}'] }), 'body.kinds.0.idPatterns.0'],
      [faulty({ idPatterns: ['a'.repeat(301)] }), 'body.kinds.0.idPatterns.0'],
      [faulty({ idPatterns: many(11, () => 'a') }), 'body.kinds.0.idPatterns'],
      [faulty({ attributes: { properties: { a: { pattern: '(' } } } }), 'body.kinds.0.attributes'],
      [faulty({ searchable: { fields: many(21, () => 'a') } }), 'body.kinds.0.searchable.fields'],
      [faulty({ kind: 'document' }), 'body.kinds.0.kind'],
      [faulty({ kindAliases: ['thing'] }), 'body.kinds.0.kindAliases.0'],
      [faulty({ kind: 'Thing' }), 'body.kinds.0.kind'],
      [{ name: 'default', version: '1' }, 'body.name'],
      [{ name: 'A', version: '1' }, 'body.name'],
      [{ name: own('x'), version: 'a b' }, 'body.version'],
      [faulty({}, { kinds: many(201, (n) => ({ kind: `k${n}` })) }), 'body.kinds'],
      [faulty({}, { relations: many(401, (n) => ({ relation: `r${n}` })) }), 'body.relations'],
      [
        faulty({}, { relations: [{ relation: 'r' }, { relation: 'r' }] }),
        'body.relations.1.relation',
      ],
      [faulty({}, { scope: 'tenant' }), 'body.namespace'],
    ] as const) {
      const answer = await post(PACKS, body)
      assert.deepEqual(
        [answer.status, answer.body.errors?.[0]?.loc],
        [400, loc],
        JSON.stringify(answer.body),
      )
    }
  })

  it('is left to service credentials, and to the platform where it is set so', async () => {
    const apiKeys = JSON.stringify([
      { key: 'writer', grants: [{ prefix: 'test:', write: true }] },
      { key: 'service', service: true, grants: [{ prefix: 'test:', write: true }] },
    ])
    const { post, get, namespace } = testMemory(db, { apiKeys })
    const { manifest } = shopPack()
    assert.equal((await post(PACKS, manifest)).status, 401)
    assert.equal((await post(PACKS, manifest, 'writer')).status, 403)
    assert.equal((await post(PACKS, manifest, 'service')).status, 201)
    assert.equal((await get(PACKS, 'writer')).status, 200)
    assert.equal((await get(kindsOf('other'), 'writer')).status, 403)
    const foreign = { ...shopPack().manifest, scope: 'tenant', namespace: 'other' }
    assert.equal((await post(PACKS, foreign, 'service')).status, 403)
    const closed = testMemory(db, { apiKeys, coreIdentities: [] })
    for (const path of [PACKS, `${PACKS}/${manifest.name}`, kindsOf(namespace)]) {
      assert.equal((await closed.get(path, 'writer')).status, 403, path)
      assert.equal((await closed.get(path, 'service')).status, 200, path)
    }
  })
})

describe("a tenant's pack", () => {
  it('is used in the tenant alone, and takes no name of a shared pack', async () => {
    const { post, get } = memory
    const shared = shopPack()
    await post(PACKS, shared.manifest)
    const tenant = testMemory(db).namespace
    const mine = { ...shopPack().manifest, scope: 'tenant', namespace: tenant }
    const { status, body } = await post(PACKS, mine)
    assert.deepEqual([status, body.ref], [201, `tenant:${mine.name}@1.0`])
    const clashes = [
      [{ ...mine, name: shared.manifest.name }, 'pack_name_conflict'],
      [{ ...mine, version: '2', kinds: [{ kind: shared.product }] }, 'kind_conflict'],
      [{ ...mine, version: '2', relations: [{ relation: shared.holds }] }, 'relation_conflict'],
    ] as const
    for (const [clash, code] of clashes) {
      const answer = await post(PACKS, clash)
      assert.deepEqual(
        [answer.status, answer.body.code, answer.body.detail.code],
        [409, code, code],
      )
    }
    const ref = `tenant:${mine.name}@1.0`
    const below = `${tenant}:ws:1`
    assert.equal((await put(kindsOf(below), { packages: [ref] })).status, 200)
    assert.equal((await get(`${PACKS}/${ref}?namespace=${below}`)).body.namespace, tenant)
    for (const elsewhere of [`${tenant}x`, testMemory(db).namespace]) {
      const refused = await put(kindsOf(elsewhere), { packages: [ref] })
      assert.deepEqual([refused.status, refused.body.packages], [404, [ref]])
      assert.equal((await get(`${PACKS}/${ref}?namespace=${elsewhere}`)).status, 404)
      const { body: all } = await get(`${PACKS}?namespace=${elsewhere}`)
      assert.ok(!all.packages.some(({ name }: { name: string }) => name === mine.name))
    }
  })
})

describe('the packs of a namespace', () => {
  it('are none but the built-in one until they are chosen', async () => {
    const { namespace } = testMemory(db)
    const { body } = await memory.get(kindsOf(namespace))
    assert.deepEqual(body.settings, { strict: false, packages: null })
    assert.deepEqual(body.catalog.packages, ['default@1'])
    assert.ok(body.catalog.kinds.some(({ kind }: { kind: string }) => kind === 'document'))
  })

  it('count in their order, and what is overshadowed is told', async () => {
    const { namespace } = testMemory(db)
    const one = shopPack()
    const two = shopPack()
    const [thing] = two.manifest.kinds
    const same = { ...one.manifest, name: own('same') }
    const other = {
      ...two.manifest,
      kinds: [thing, { kind: one.product }],
      relations: [{ relation: one.holds, cardinality: 'one' }],
    }
    for (const pack of [one.manifest, same, other]) await memory.post(PACKS, pack)
    const packages = [one.manifest.name, `${same.name}@1.0`, other.name]
    const { status, body } = await put(kindsOf(namespace), { strict: true, packages })
    assert.deepEqual([status, body.settings], [200, { strict: true, packages }])
    const first = `${one.manifest.name}@1.0`
    assert.deepEqual(body.catalog.packages, [
      first,
      `${same.name}@1.0`,
      `${other.name}@1.0`,
      'default@1',
    ])
    assert.deepEqual(body.catalog.conflicts, [
      { kind: one.product, pack: first, overshadowed: `${other.name}@1.0` },
      { relation: one.holds, pack: first, overshadowed: `${other.name}@1.0` },
    ])
    assert.deepEqual((await memory.get(kindsOf(namespace))).body, body)
    const unknown = await put(kindsOf(namespace), { packages: [own('nothing')] })
    assert.equal(unknown.status, 404)
    assert.deepEqual((await memory.get(kindsOf(namespace))).body, body)
  })

  it('are those of the newest version where none is named', async () => {
    const { namespace } = testMemory(db)
    const { manifest } = shopPack()
    await memory.post(PACKS, manifest)
    await put(kindsOf(namespace), { packages: [manifest.name] })
    await memory.post(PACKS, { ...manifest, version: '1.1', relations: [] })
    const { body } = await memory.get(kindsOf(namespace))
    assert.deepEqual(
      [body.catalog.packages[0], body.catalog.relations],
      [`${manifest.name}@1.1`, []],
    )
  })
})
