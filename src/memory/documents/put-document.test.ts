import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { memoryTables, testMemory } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()

function documents() {
  const tables = memoryTables(db)
  const { namespace, post, rows } = tables
  return {
    ...tables,
    put: (document: object) =>
      post('/api/brain/documents', { natural_key: 'docs/a.md', namespace, ...document }),
    open: async () => (await rows('chunks')).filter(({ validTo }) => validTo === null),
    end: (key = 'docs/a.md') =>
      testMemory(db).delete(
        `/api/brain/documents?namespace=${namespace}&natural_key=${encodeURIComponent(key)}`,
      ),
  }
}

const guide = (word: string) =>
  `# Guide\n\nIntro.\n\n## Install\n\nRun ${word}.\n\n## Use\n\nType.\n`

describe('storing a document', () => {
  it('cuts its content under headings, in order, and together the chunks are the content', async () => {
    const { put, open, rows } = documents()
    const { status, body } = await put({ content: guide('it') })
    assert.equal(status, 200)
    assert.deepEqual(
      [body.title, body.chunks, body.unchanged, body.type],
      ['Guide', 3, false, 'document'],
    )
    const chunks = await open()
    assert.equal(chunks.map(({ text }) => text as string).join(''), guide('it'))
    assert.deepEqual(
      chunks.map(({ chunkOrder, heading, title }) => [chunkOrder, heading, title]),
      [
        [0, 'Guide', 'Guide'],
        [1, 'Guide > Install', 'Guide'],
        [2, 'Guide > Use', 'Guide'],
      ],
    )
    assert.ok(chunks.every(({ terms }) => terms.length > 0))
    assert.deepEqual(
      (await rows('nodes')).map(({ key, kind, title }) => [key, kind, title]),
      [['docs/a.md', 'document', 'Guide']],
    )
  })

  it('writes nothing when nothing changed', async () => {
    const { put, head } = documents()
    await put({ content: guide('it'), meta: { a: 1 }, sourcePath: 'docs/a.md' })
    const before = await head()
    const again = await put({ content: guide('it'), meta: { a: 1 }, source_path: 'docs/a.md' })
    assert.equal(again.body.unchanged, true)
    assert.deepEqual(await head(), before)
  })

  it('ends only the chunks that changed, where the new ones begin', async () => {
    const { put, rows } = documents()
    await put({ content: guide('it'), valid_from: '2026-01-01' })
    const { body } = await put({ content: guide('that'), valid_from: '2026-02-01' })
    assert.deepEqual([body.unchanged, body.chunks], [false, 3])
    const chunks = await rows('chunks')
    assert.deepEqual(
      chunks.map(({ chunkOrder, validFrom, validTo }) => [
        chunkOrder,
        validFrom.toISOString().slice(0, 10),
        validTo?.toISOString().slice(0, 10),
      ]),
      [
        [0, '2026-01-01', undefined],
        [1, '2026-01-01', '2026-02-01'],
        [2, '2026-01-01', undefined],
        [1, '2026-02-01', undefined],
      ],
    )
    const older = await put({ content: guide('old'), valid_from: '2026-01-15' })
    assert.deepEqual([older.status, older.body.code], [409, 'version_conflict'])
    assert.deepEqual(await rows('chunks'), chunks)
  })

  it('keeps given chunks as they are, and goes on with them by order', async () => {
    const { put, open } = documents()
    await put({ chunks: [{ text: 'a' }, { text: 'b', heading: 'B' }], title: 'T' })
    await put({ chunks: [{ text: 'c', order: 2 }], title: 'T' })
    const texts = async () => (await open()).map(({ chunkOrder, text }) => [chunkOrder, text])
    assert.deepEqual(await texts(), [
      [0, 'a'],
      [1, 'b'],
      [2, 'c'],
    ])
    await put({ chunks: [{ text: 'z' }], title: 'T', replace: true })
    assert.deepEqual(await texts(), [[0, 'z']])
    const twice = await put({ chunks: [{ text: 'a', order: 1 }, { text: 'b' }] })
    assert.deepEqual([twice.status, twice.body.errors[0].loc], [400, 'body.chunks.1.order'])
  })

  it('links to nodes that exist and skips the others', async () => {
    const { put, rows } = documents()
    await put({ natural_key: 'b.md', content: 'B' })
    await put({ natural_key: 'c.md', content: 'C' })
    const linked = await put({ content: 'A', links: ['b.md', 'nowhere.md', 'docs/a.md'] })
    assert.equal(linked.body.links, 1)
    await put({ content: 'A', links: ['c.md'] })
    const edges = await rows('edges')
    assert.deepEqual(
      edges.map(({ predicate, object, validTo }) => [predicate, object, validTo === null]),
      [
        ['LINKS_TO', 'b.md', false],
        ['LINKS_TO', 'c.md', true],
      ],
    )
  })

  it('takes any text in any script', async () => {
    const { put, open } = documents()
    const content = `Съешь ещё этих булок. ${'我们决定使用可逆的迁移。'.repeat(500)}\n'; drop table chunks; --\n\u202e🐘`
    assert.equal((await put({ content })).status, 200)
    assert.equal((await open()).map(({ text }) => text as string).join(''), content)
  })

  for (const [what, document, loc] of [
    ['neither content nor chunks', {}, 'body.content'],
    ['both', { content: 'a', chunks: [{ text: 'a' }] }, 'body.content'],
    ['blank content', { content: ' \n ' }, 'body.content'],
    ['501 chunks', { chunks: Array.from({ length: 501 }, () => ({ text: 'a' })) }, 'body.chunks'],
    ['a blank key', { natural_key: ' ', content: 'a' }, 'body.natural_key'],
    ['two namespaces', { content: 'a', scope: { namespace: 'other' } }, 'body.namespace'],
    ['an unknown field', { content: 'a', contents: 'b' }, 'body.contents'],
  ] as const) {
    it(`refuses ${what}`, async () => {
      const { put, rows } = documents()
      const { status, body } = await put(document)
      assert.equal(status, 400)
      assert.equal(body.errors[0].loc, loc)
      assert.equal((await rows('chunks')).length, 0)
    })
  }

  it('of others is refused, and so is hiding what others see', async () => {
    const { put, rows } = documents()
    await put({ content: 'A', scopes: ['workspace:a'] })
    const before = [await rows('chunks'), await rows('nodes')]
    const foreign = await put({
      content: 'B',
      scopes: ['workspace:b'],
      allowed_scopes: ['workspace:b'],
    })
    assert.equal(foreign.status, 403)
    const beyond = await put({
      content: 'B',
      scopes: ['workspace:b'],
      allowed_scopes: ['workspace:a'],
    })
    assert.equal(beyond.status, 403)
    const hidden = await put({ content: 'B', scopes: ['principal:p'] })
    assert.equal(hidden.status, 403)
    assert.deepEqual([await rows('chunks'), await rows('nodes')], before)
  })
})

describe('deleting a document', () => {
  it('ends it now, keeps what it said before, and says deleted: false the second time', async () => {
    const { put, end, open, rows } = documents()
    await put({ content: guide('it') })
    const first = await end()
    assert.deepEqual([first.status, first.body.deleted, first.body.chunks], [200, true, 3])
    assert.equal((await open()).length, 0)
    assert.equal((await rows('chunks')).length, 3)
    assert.ok((await rows('nodes')).every(({ validTo }) => validTo !== null))
    const second = await end()
    assert.deepEqual([second.status, second.body.deleted], [200, false])
    assert.equal((await end('never.md')).body.deleted, false)
    const again = await put({ content: guide('it') })
    assert.deepEqual([again.body.unchanged, again.body.chunks], [false, 3])
  })
})
