import { z } from 'zod'
import { ModelError, normalised } from './embedder.ts'
import type { Embedder } from './embedder.ts'
import { postJson } from './post-json.ts'
import type { Endpoint } from './post-json.ts'

const Reply = z.object({
  data: z.array(z.object({ index: z.int().optional(), embedding: z.array(z.number()).min(1) })),
})

/** A model behind the embeddings API that OpenAI began and local servers share; `url` is its base. */
export function httpEmbedder(endpoint: Endpoint & { model: string; dimension?: number }): Embedder {
  const { model, dimension } = endpoint
  const url = `${endpoint.url.replace(/\/+$/, '')}/embeddings`
  return {
    model: `http:${model}${dimension === undefined ? '' : `/${dimension}`}`,
    embed: async (texts, signal) => {
      const body = {
        model,
        input: texts,
        encoding_format: 'float',
        ...(dimension !== undefined && { dimensions: dimension }),
      }
      const reply = Reply.safeParse(await postJson({ ...endpoint, url }, body, signal))
      if (!reply.success) throw new ModelError('Cannot embed: the answer holds no embeddings')
      const { data } = reply.data
      const vectors = data
        .map((one, place) => ({ place: one.index ?? place, embedding: one.embedding }))
        .toSorted((a, b) => a.place - b.place)
        .map(({ embedding }) => normalised(embedding))
      const [first] = vectors
      const isWhole =
        vectors.length === texts.length && vectors.every(({ length }) => length === first?.length)
      if (!isWhole || (dimension !== undefined && first?.length !== dimension)) {
        throw new ModelError(`Cannot embed: ${texts.length} texts got ${shapeOf(vectors)}`)
      }
      return vectors
    },
  }
}

function shapeOf(vectors: readonly Float32Array[]): string {
  const lengths = [...new Set(vectors.map(({ length }) => length))].slice(0, 5)
  return `${vectors.length} vectors of ${lengths.join(', ')} numbers`
}
