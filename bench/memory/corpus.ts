/** Text that is distributed like language: made from a seed, so every run and every contender reads the same. */
export interface Corpus {
  /** The text of message or chunk `n`, of about `words` words. */
  text: (n: number, words: number) => string
  /** A question about item `n`: some of its words among others. */
  question: (n: number, words: number) => string
}

const VOCABULARY = 50_000
/**
 * Zipf with Mandelbrot's correction: without words that say nothing the most common word of a text is about
 * one in two hundred, and half of the words occur once or twice.
 */
const SHIFT = 40
const EXPONENT = 1.05
const TERMS_OF_AN_ITEM = 4

export function createCorpus(seed: number): Corpus {
  const words = Array.from({ length: VOCABULARY }, (_, n) => wordOf(n))
  const sums = new Float64Array(VOCABULARY)
  let total = 0
  for (let rank = 0; rank < VOCABULARY; rank++) {
    total += (rank + SHIFT) ** -EXPONENT
    sums[rank] = total
  }
  const draw = (random: () => number) => words[firstAbove(sums, random() * total)] ?? ''
  const text = (n: number, count: number) => {
    const random = randomOf(seed, n)
    return sentence(Array.from({ length: count }, () => draw(random)))
  }
  return {
    text,
    question: (n, count) => {
      const random = randomOf(seed + 1, n)
      const own = text(n, 30)
        .toLowerCase()
        .split(/[^a-z]+/)
      const taken = Array.from(
        { length: Math.min(TERMS_OF_AN_ITEM, count) },
        () => own[Math.floor(random() * own.length)] ?? '',
      )
      const others = Array.from({ length: count - taken.length }, () => draw(random))
      return `${[...taken, ...others].join(' ')}?`
    },
  }
}

/** Uniform numbers in [0, 1). Source: Mulberry32, public domain. */
export function randomOf(seed: number, n: number): () => number {
  let state = Math.imul(seed + 1, 0x9e3779b1) ^ Math.imul(n + 1, 0x85ebca6b)
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const ONSETS = 'b c d f g h k l m n p r s t v w br dr gl pl st tr'.split(' ')
const VOWELS = 'a e i o u ai ou'.split(' ')
const CODAS = 'b d g k l m n p r t x'.split(' ')

/** Pronounceable, distinct for each number, and unlike any word that is left out. */
function wordOf(n: number): string {
  const syllables: string[] = []
  for (let rest = n + 1_000; rest > 0; rest = Math.floor(rest / 154)) {
    const at = rest % 154
    syllables.push(`${ONSETS[at % 22]}${VOWELS[Math.floor(at / 22)]}`)
  }
  return `${syllables.join('')}${CODAS[n % 11]}`
}

function sentence(words: readonly string[]): string {
  const sentences: string[] = []
  for (let start = 0; start < words.length; start += 12) {
    const some = words.slice(start, start + 12).join(' ')
    sentences.push(`${some.charAt(0).toUpperCase()}${some.slice(1)}.`)
  }
  return sentences.join(' ')
}

function firstAbove(sums: Float64Array, value: number): number {
  let low = 0
  let high = sums.length - 1
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sums[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low
}
