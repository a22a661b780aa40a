import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { file, memorySources } from '../../../test/support/memory-sources.ts'

const db = await sharedMemoryDb()

async function library() {
  const sources = memorySources(db)
  await sources.reconcile('s1', 1, {
    entities: [
      file('a', { lang: 'ts', size: 10, tags: ['x', 'y'], gone: null, none: [] }),
      file('b', { lang: 'py', size: 20, ok: true }),
      file('c', { lang: 'ts', "it's": 1 }),
      { kind: 'folder', key: 'folder:src', title: 'src' },
    ],
  })
  const { namespace, post } = sources
  const query = (more: object) =>
    post('/api/memory/entities:query', { scope: { namespace }, kinds: ['file'], ...more })
  const titles = async (where: object[], more: object = {}) => {
    const { status, body } = await query({ where, ...more })
    assert.equal(status, 200, JSON.stringify(body))
    return body.items.map(({ title }: { title: string }) => title)
  }
  return { ...sources, query, titles }
}

describe('listing entities', () => {
  it('takes those that satisfy every condition', async () => {
    const { titles } = await library()
    const cases: [object[], string[]][] = [
      [[], ['a', 'b', 'c']],
      [[{ field: 'lang', op: 'eq', value: 'ts' }], ['a', 'c']],
      [[{ field: 'size', op: 'eq', value: 10 }], ['a']],
      [[{ field: 'size', op: 'eq', value: '10' }], []],
      [[{ field: 'tags', op: 'eq', value: 'y' }], ['a']],
      [[{ field: 'lang', op: 'in', value: ['py', 'go'] }], ['b']],
      [[{ field: 'ok', op: 'exists', value: true }], ['b']],
      [[{ field: 'size', op: 'gte', value: 11 }], ['b']],
      [[{ field: 'lang', op: 'prefix', value: 't' }], []],
      [[{ field: 'gone', op: 'exists', value: false }], ['a', 'b', 'c']],
      [[{ field: 'none', op: 'exists', value: true }], []],
      [[{ field: "it's", op: 'eq', value: 1 }], ['c']],
      [
        [
          { field: 'lang', op: 'eq', value: 'ts' },
          { field: 'size', op: 'exists', value: false },
        ],
        ['c'],
      ],
    ]
    for (const [where, expected] of cases) {
      assert.deepEqual(await titles(where), expected, JSON.stringify(where))
    }
    assert.deepEqual(await titles([], { kinds: ['folder', 'file'] }), ['a', 'b', 'c', 'src'])
    assert.deepEqual(await titles([], { kinds: ['nothing'] }), [])
  })

  it('goes on from page to page, with its own cursor only', async () => {
    const { query } = await library()
    const seen: string[] = []
    let cursor: string | null = null
    for (let page = 0; page < 5; page++) {
      const { body }: { body: { items: { key: string }[]; nextCursor: string | null } } =
        await query({ kinds: ['file', 'folder'], limit: 2, cursor })
      seen.push(...body.items.map(({ key }) => key))
      cursor = body.nextCursor
      if (cursor === null) break
    }
    assert.deepEqual(seen, ['file:a', 'file:b', 'file:c', 'folder:src'])
    const { body: first } = await query({ limit: 1 })
    for (const [foreign, change] of [
      [first.nextCursor, { kinds: ['folder'] }],
      [first.nextCursor, { where: [{ field: 'a', op: 'eq', value: 1 }] }],
      ['nonsense', {}],
      [Buffer.from('["x","1",1]').toString('base64url'), {}],
    ] as const) {
      const { status, body } = await query({ ...change, cursor: foreign })
      assert.deepEqual([status, body.errors[0].loc], [400, 'body.cursor'])
    }
  })

  it('refuses what an operator cannot take', async () => {
    const { query } = await library()
    for (const [condition, loc] of [
      [{ field: 'a', op: 'eq', value: {} }, 'body.where.0.value'],
      [{ field: 'a', op: 'eq', value: ['x'] }, 'body.where.0.value'],
      [{ field: 'a', op: 'in', value: [] }, 'body.where.0.value'],
      [{ field: 'a', op: 'in', value: 'x' }, 'body.where.0.value'],
      [{ field: 'a', op: 'exists', value: 'yes' }, 'body.where.0.value'],
      [{ field: 'a', op: 'lte', value: 'soon' }, 'body.where.0.value'],
      [{ field: 'a', op: 'like', value: 'x' }, 'body.where.0.op'],
    ] as const) {
      const { status, body } = await query({ where: [condition] })
      assert.deepEqual([status, body.errors[0].loc], [400, loc])
    }
  })

  it('shows the attributes as they stand, with where they come from', async () => {
    const { query, namespace } = await library()
    const { body } = await query({ where: [{ field: 'size', op: 'eq', value: 20 }] })
    assert.deepEqual(body.items, [
      {
        kind: 'file',
        key: 'file:b',
        namespace,
        title: 'b',
        attributes: { lang: 'py', size: 20, ok: true },
        aliases: [],
        source_path: null,
        provenance: null,
        valid_from: '2026-01-01T00:00:00Z',
        valid_to: null,
      },
    ])
    assert.equal(body.nextCursor, null)
  })
})
