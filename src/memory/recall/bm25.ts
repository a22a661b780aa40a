/** How fast repetition saturates (`k1`) and how much length counts (`b`). */
export interface Bm25 {
  k1: number
  b: number
}

/**
 * Set on public sets (turns of conversations, paragraphs, code functions): short items want less of
 * both than documents and code.
 */
export const PROFILES = {
  short: { k1: 0.9, b: 0.4 },
  document: { k1: 0.9, b: 0.75 },
  code: { k1: 1.6, b: 0.75 },
  session: { k1: 1.2, b: 0.75 },
} as const satisfies Record<string, Bm25>

/**
 * Rarity of a term among `items` of which `containing` hold it; never negative.
 * Source: Robertson, Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond", 2009, with the
 * +1 of Lucene.
 */
export function inverseFrequency(items: number, containing: number): number {
  const df = Math.min(containing, items)
  return Math.log(1 + (items - df + 0.5) / (df + 0.5))
}

/** One bag of words to score: `tfs[i]` is the (weighted) frequency of query term `i`. */
export interface Bag {
  tfs: ArrayLike<number>
  length: number
}

/** BM25 of a bag. `weights[i]` is the term's inverse frequency times its weight in the query. */
export function bm25(
  bag: Bag,
  weights: ArrayLike<number>,
  averageLength: number,
  { k1, b }: Bm25,
): number {
  const norm = k1 * (1 - b + (b * bag.length) / Math.max(averageLength, 1))
  let score = 0
  for (let i = 0; i < weights.length; i++) {
    const tf = bag.tfs[i] ?? 0
    if (tf > 0) score += ((weights[i] ?? 0) * tf * (k1 + 1)) / (tf + norm)
  }
  return score
}
