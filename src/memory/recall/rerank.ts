import { ModelError } from '#model/embedder.ts'
import type { Reranker } from '#model/reranker.ts'
import type { Ranked } from './item.ts'

export interface Reranking {
  reranker: Reranker
  /** How many of the best it orders. */
  pool: number
}

const LIMIT_MS = 12_000
const MAX_CHARS = 600

/**
 * The best of a ranking in the order that a reranker gives them; the rest as it was. Each place keeps its score, so
 * scores still fall along the list, and `rerank_score` tells what the reranker said. When it fails the order
 * stays, with `rerank_score` null.
 */
export async function reranked(
  question: string,
  ranking: readonly Ranked[],
  { reranker, pool }: Reranking,
): Promise<Ranked[]> {
  const best = ranking.slice(0, pool)
  if (best.length === 0 || question.trim() === '') return [...ranking]
  const scores = await scoresOf(question, best, reranker)
  const judged = best.map((ranked, place) => ({
    ...ranked,
    signals: { ...ranked.signals, rerank_score: scores?.[place] ?? null },
  }))
  const ordered =
    scores === undefined
      ? judged
      : judged
          .map((ranked, place) => ({ ranked, said: scores[place] ?? 0, place }))
          .toSorted((a, b) => b.said - a.said || a.place - b.place)
          .map(({ ranked }, place) => ({ ...ranked, score: best[place]?.score ?? 0 }))
  return [...ordered, ...ranking.slice(pool)]
}

async function scoresOf(
  question: string,
  best: readonly Ranked[],
  reranker: Reranker,
): Promise<number[] | undefined> {
  const texts = best.map(({ item: { title, text } }) =>
    (title === null || title === text ? text : `${title}\n${text}`).slice(0, MAX_CHARS),
  )
  try {
    return await reranker.score(question, texts, AbortSignal.timeout(LIMIT_MS))
  } catch (error) {
    if (error instanceof ModelError || error instanceof DOMException) return undefined
    throw error
  }
}
