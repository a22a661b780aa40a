import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import { ModelError } from './embedder.ts'
import { httpEmbedder } from './http-embedder.ts'
import { httpReranker } from './http-reranker.ts'

const signal = new AbortController().signal
const at = (url: string) => ({
  url: `${url}/v1/`,
  apiKey: 'secret-of-the-model',
  timeoutSeconds: 5,
})

const named = (model: string, dimension?: number) =>
  httpEmbedder({ ...at('http://x'), model, ...(dimension && { dimension }) }).model
const isPlain = (error: unknown) =>
  error instanceof ModelError && !/secret|a private text/.test(error.message)

describe('an embeddings server', () => {
  it('is asked by its API, and its vectors come in the order of the texts at length 1', async (t) => {
    const { url, heard } = await fakeServer(t, (_, response) =>
      reply(response, 200, {
        data: [
          { index: 1, embedding: [0, 5] },
          { index: 0, embedding: [3, 4] },
        ],
      }),
    )
    const embedder = httpEmbedder({ ...at(url), model: 'some-model' })

    const vectors = await embedder.embed(['a', 'b'], signal)

    assert.deepEqual(vectors, [new Float32Array([0.6, 0.8]), new Float32Array([0, 1])])
    assert.equal(heard[0]?.path, '/v1/embeddings')
    assert.equal(heard[0]?.headers['authorization'], 'Bearer secret-of-the-model')
    assert.deepEqual(heard[0]?.body, {
      model: 'some-model',
      input: ['a', 'b'],
      encoding_format: 'float',
    })
  })

  it('names its vectors by model and length, so that others are not compared with them', () => {
    assert.equal(new Set([named('a'), named('b'), named('a', 64), named('a', 128)]).size, 4)
  })

  it('fails as a model whatever else it answers, without telling what it was asked', async (t) => {
    const answers: readonly [number, unknown][] = [
      [500, { error: 'broken' }],
      [200, 'no json'],
      [200, { data: [] }],
      [200, { data: [{ embedding: [1] }] }],
      [200, { data: [{ embedding: [1] }, { embedding: [1, 2] }] }],
    ]
    let next = 0
    const { url, close } = await fakeServer(t, (_, response) =>
      reply(response, ...(answers[next++] ?? [500, ''])),
    )
    const embedder = httpEmbedder({ ...at(url), model: 'm' })

    for (const _ of answers) {
      await assert.rejects(embedder.embed(['a private text', 'b'], signal), isPlain)
    }
    await close()
    await assert.rejects(embedder.embed(['a private text'], signal), isPlain)
  })
})

describe('a reranker', () => {
  it('scores the texts in their order', async (t) => {
    const { url, heard } = await fakeServer(t, (_, response) =>
      reply(response, 200, {
        results: [
          { index: 1, relevance_score: 0.9 },
          { index: 0, relevance_score: -2 },
        ],
      }),
    )
    const reranker = httpReranker({ ...at(url), model: 'judge' })

    assert.deepEqual(await reranker.score('q', ['a', 'b'], signal), [-2, 0.9])
    assert.deepEqual(heard[0]?.body, {
      model: 'judge',
      query: 'q',
      documents: ['a', 'b'],
      top_n: 2,
    })
    await assert.rejects(reranker.score('q', ['a', 'b', 'c'], signal), ModelError)
  })
})
