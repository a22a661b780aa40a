import { z } from 'zod'
import { ModelError } from './embedder.ts'
import { postJson } from './post-json.ts'
import type { Endpoint } from './post-json.ts'
import type { Reranker } from './reranker.ts'

const Reply = z.object({
  results: z.array(z.object({ index: z.int().min(0), relevance_score: z.number() })),
})

/** A model behind the rerank API that hosted and local servers share; `url` is its base. */
export function httpReranker(endpoint: Endpoint & { model: string | undefined }): Reranker {
  const url = `${endpoint.url.replace(/\/+$/, '')}/rerank`
  return {
    score: async (question, texts, signal) => {
      const body = {
        ...(endpoint.model !== undefined && { model: endpoint.model }),
        query: question,
        documents: texts,
        top_n: texts.length,
      }
      const reply = Reply.safeParse(await postJson({ ...endpoint, url }, body, signal))
      if (!reply.success) throw new ModelError('Cannot rerank: the answer holds no scores')
      const scores = new Map(
        reply.data.results.map(({ index, relevance_score: score }) => [index, score]),
      )
      return texts.map((_, place) => {
        const score = scores.get(place)
        if (score === undefined) throw new ModelError('Cannot rerank: a text got no score')
        return score
      })
    },
  }
}
