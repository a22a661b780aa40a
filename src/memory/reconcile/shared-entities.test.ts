import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { file, memorySources } from '../../../test/support/memory-sources.ts'

const db = await sharedMemoryDb()

describe('an entity that several speak of', () => {
  it('holds what any source says, and ends when the last one lets it go', async () => {
    const { reconcile, entities } = memorySources(db)
    await reconcile('a1', 1, { entities: [file('x', { size: 1, lang: 'ts' })] })
    const other = await reconcile('b1', 2, {
      scope: 'wiki',
      entities: [{ ...file('x', { owner: 'ann', lang: null }), title: null }],
    })
    assert.deepEqual(other.body.conflicts.items, [
      { kind: 'file', key: 'file:x', source: 'git', scope: 'acme/app' },
    ])
    assert.deepEqual(await entities(), [['x', { size: 1, lang: 'ts', owner: 'ann' }]])
    await reconcile('a2', 3, { allowEmpty: true })
    assert.deepEqual(await entities(), [['file:x', { owner: 'ann' }]])
    await reconcile('b2', 4, { scope: 'wiki', allowEmpty: true })
    assert.deepEqual(await entities(), [])
    assert.deepEqual(await entities({ asOf: '2026-01-02T12:00:00Z' }), [
      ['x', { size: 1, lang: 'ts', owner: 'ann' }],
    ])
  })

  it('keeps what an agent said about it, and takes the place of its placeholder', async () => {
    const { reconcile, record, rows, entities } = memorySources(db)
    const note = (id: string, assertion: object) =>
      record({
        source: { system: 'chat', external_id: id },
        kind: 'finding',
        content: 'x',
        occurred_at: '2026-01-01T00:00:00Z',
        assertions: [assertion],
      })
    await note('1', {
      assert: 'fact',
      fact: { subject: 'file:a', predicate: 'owned by', object: 'team:x' },
    })
    await reconcile('s1', 2, { entities: [file('a', { size: 1 })] })
    assert.deepEqual(await entities(), [['a', { size: 1 }]])
    assert.deepEqual(await entities({ asOf: '2026-01-01T12:00:00Z' }), [])
    await note('2', {
      assert: 'entity',
      entity: { key: 'file:a', type: 'file', properties: { risk: 'high' } },
    })
    await reconcile('s2', 3, { entities: [file('a', { lines: 7 })] })
    assert.deepEqual(await entities(), [['a', { risk: 'high', lines: 7 }]])
    const open = (await rows('nodes')).filter(
      ({ key, validTo, retiredAt }) => key === 'file:a' && validTo === null && retiredAt === null,
    )
    assert.equal(open.length, 1)
  })

  it('is never seen by more than its sources allow', async () => {
    const { reconcile, entities } = memorySources(db)
    await reconcile('a1', 1, { entities: [file('x', { a: 1 })], scopes: ['workspace:a'] })
    await reconcile('b1', 2, {
      scope: 'b',
      entities: [file('x', { b: 2 })],
      scopes: ['workspace:b'],
    })
    const seen = async (workspace: string) => await entities({ allowedScopes: [workspace] })
    const [a, b] = [await seen('workspace:a'), await seen('workspace:b')]
    assert.ok(!JSON.stringify(a).includes('"b"') && !JSON.stringify(b).includes('"a":1'))
    assert.deepEqual(await seen('workspace:c'), [])
  })

  it('belongs to those who may see it', async () => {
    const { reconcile, rows } = memorySources(db)
    await reconcile('a1', 1, { entities: [file('x')], scopes: ['workspace:a'] })
    const before = await rows('nodes')
    const foreign = await reconcile('b1', 2, {
      scope: 'b',
      entities: [file('x', { mine: true })],
      scopes: ['workspace:b'],
      allowedScopes: ['workspace:b'],
    })
    assert.deepEqual([foreign.status, foreign.body.code], [403, 'permission_denied'])
    assert.doesNotMatch(JSON.stringify(foreign.body), /workspace:a|file:x/)
    assert.deepEqual(await rows('nodes'), before)
  })
})
