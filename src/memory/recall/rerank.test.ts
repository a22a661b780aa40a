import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import { ModelError } from '#model/embedder.ts'
import type { Reranker } from '#model/reranker.ts'
import { sharedMemoryDb } from '../../../test/support/db.ts'
import { testMemory } from '../../../test/support/memory.ts'

const db = await sharedMemoryDb()

/** The hits, and the pack's items, for a question that a reranker has its say about. */
async function ranked(reranker: Reranker, pool = 20) {
  const memory = testMemory(db, {}, { reranking: { reranker, pool } })
  const scope = { namespace: memory.namespace }
  await memory.post('/api/memory/observations:batch', {
    observations: ['pump pump pump', 'pump pump and more', 'one pump among many other words'].map(
      (content) => ({
        source: { system: 'test', stream: 's', external_id: randomUUID() },
        kind: 'note',
        occurred_at: '2026-01-10T10:00:00Z',
        content,
      }),
    ),
    scope,
  })
  const { body } = await memory.post('/api/brain/search', { query: 'pump', scope })
  const { body: pack } = await memory.post('/api/memory/context', { query: 'pump', scope })
  const items = pack.sections.flatMap((section: { items: object[] }) => section.items)
  return { hits: body.hits, items }
}

const texts = (list: { text: string }[]) => list.map(({ text }) => text)
const byLength: Reranker = { score: async (_, some) => some.map((text) => text.length) }

describe('a reranker', () => {
  it('orders hits and pack, with its score beside', async () => {
    const { hits, items } = await ranked(byLength)

    assert.deepEqual(
      texts(hits).map((text) => text.length),
      texts(hits)
        .map((text) => text.length)
        .toSorted((a, b) => b - a),
    )
    assert.equal(hits[0].signals.rerank_score, hits[0].text.length)
    const scores = hits.map((hit: { score: number }) => hit.score)
    assert.deepEqual(
      scores,
      scores.toSorted((a: number, b: number) => b - a),
    )
    assert.equal(items[0].text, hits[0].text)
  })

  it('leaves alone what is below its pool, and everything when it fails', async () => {
    const { hits } = await ranked(byLength, 1)
    const failing: Reranker = {
      score: async () => {
        throw new ModelError('no')
      },
    }
    const { hits: untouched } = await ranked(failing)

    assert.deepEqual(texts(hits), texts(untouched))
    assert.equal(untouched[0].signals.rerank_score, null)
    assert.equal(hits[1].signals.rerank_score, undefined)
  })
})
