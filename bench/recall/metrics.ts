/** How good one ranking is, each from 0 to 1. */
export interface Metrics {
  /** Whether any answer is among the first ten. */
  any10: number
  /** Share of the answers among the first ten. */
  recall10: number
  /** Discounted gain of the first ten against the best order possible. Source: Järvelin, Kekäläinen, 2002. */
  ndcg10: number
  /** One over the place of the first answer, 0 beyond the tenth. */
  mrr10: number
}

const DEPTH = 10

/** Judges a ranking against its answers, where one text is as good as another. */
export function metricsOf(ranking: readonly string[], gold: readonly string[]): Metrics {
  const order = [...new Set(ranking)].slice(0, DEPTH)
  const answers = new Set(gold)
  const places = order.flatMap((id, place) => (answers.has(id) ? [place + 1] : []))
  const best = Array.from({ length: Math.min(answers.size, DEPTH) }, (_, place) => place + 1)
  const [first] = places
  return {
    any10: places.length > 0 ? 1 : 0,
    recall10: places.length / answers.size,
    ndcg10: gainOf(places) / gainOf(best),
    mrr10: first === undefined ? 0 : 1 / first,
  }
}

function gainOf(places: readonly number[]): number {
  return places.reduce((sum, place) => sum + 1 / Math.log2(place + 1), 0)
}

/** Mean with the bounds between which it lies in 95 of 100 samples drawn anew from the same values. */
export interface Estimate {
  mean: number
  low: number
  high: number
}

const DRAWS = 2_000

/** Source: Efron, Tibshirani, "An Introduction to the Bootstrap", 1993, percentile interval. */
export function estimate(values: readonly number[]): Estimate {
  const random = generator(7)
  const means = Array.from({ length: DRAWS }, () =>
    meanOf(values.map(() => values[Math.floor(random() * values.length)] ?? 0)),
  ).toSorted((a, b) => a - b)
  return {
    mean: meanOf(values),
    low: means[Math.floor(DRAWS * 0.025)] ?? 0,
    high: means[Math.floor(DRAWS * 0.975)] ?? 0,
  }
}

/** The same numbers from 0 to 1 on every run: the generator of Park and Miller, 1988. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
