import { createHash } from 'node:crypto'
import { normalised } from './embedder.ts'
import type { Embedder } from './embedder.ts'

/** Vectors that are alike where texts share words: no understanding, but the same on every machine. For tests. */
export function fakeEmbedder(dimension = 64): Embedder {
  return {
    model: `fake/${dimension}`,
    embed: async (texts) => texts.map((text) => normalised(sumOfWords(text, dimension))),
  }
}

function sumOfWords(text: string, dimension: number): number[] {
  const sum = Array.from({ length: dimension }, () => 0)
  for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}]+/gu)) {
    const digest = createHash('sha256').update(word).digest()
    for (let i = 0; i < dimension; i++) {
      sum[i] = (sum[i] ?? 0) + ((digest[i % digest.length] ?? 0) - 127.5) * (i < 32 ? 1 : -1)
    }
  }
  return sum
}
