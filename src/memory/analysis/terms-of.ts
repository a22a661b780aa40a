import { emitTerms } from './terms.ts'

/** One text of an item; `weight` says how much a word in it counts (a code symbol's name: 3). */
export interface TextField {
  text: string
  weight?: number
}

/** What the index stores of an item. `hashes` and `tfs` are aligned; hashes are distinct, ascending. */
export interface ItemTerms {
  /** Signed 64-bit, so they fit `bigint`. */
  hashes: bigint[]
  /** Weighted term frequency in units of 1/`TF_UNIT`, 1..32767: fits `smallint`. */
  tfs: number[]
  /** Weighted number of words, rounded: the document length of BM25. */
  length: number
  /** Those of the terms that are words of letters, up to 40: what a misspelt word is compared with. */
  words: string[]
}

const WORD = /^\p{L}{3,40}$/u

/** Version of the analysis: it grows with every change of what terms a text gives, or of how they are stored. */
export const ANALYSIS = 1

/** A frequency of 1 is stored as 8, so that weights below 1 survive in an integer. */
export const TF_UNIT = 8
const MAX_TF = 32_767
/** An item with more distinct terms is a document and should come in chunks; the rest is not indexed. */
const MAX_TERMS = 8_192

/**
 * The stored terms of an item: its analysed words, hashed together with the namespace's numeric id, so
 * that one index serves all namespaces and a term of one never selects rows of another.
 */
export function termsOf(
  namespaceId: bigint | number | string,
  fields: readonly TextField[],
): ItemTerms {
  const weights = new Map<string, number>()
  let length = 0
  for (const { text, weight = 1 } of fields) {
    emitTerms(text, (term, counted) => {
      if (counted) length += weight
      const before = weights.get(term)
      if (before !== undefined || weights.size < MAX_TERMS)
        weights.set(term, (before ?? 0) + weight)
    })
  }
  const seed = seedOf(namespaceId)
  const byHash = new Map<bigint, number>()
  for (const [term, weight] of weights) {
    const hash = hashTerm(seed, term)
    byHash.set(hash, (byHash.get(hash) ?? 0) + weight)
  }
  const hashes = [...byHash.keys()].toSorted((a, b) => (a < b ? -1 : 1))
  const tfs = hashes.map((hash) => storedTf(byHash.get(hash) ?? 0))
  const words = [...weights.keys()].filter((term) => WORD.test(term))
  return { hashes, tfs, length: Math.round(length), words }
}

/** The stored form of one term of a query, to be compared with `ItemTerms.hashes`. */
export function termHash(namespaceId: bigint | number | string, term: string): bigint {
  return hashTerm(seedOf(namespaceId), term)
}

/** The upper and the lower half of a `termHash`, as signed 32-bit numbers. */
export function termLanes(namespaceId: bigint | number | string, term: string): [number, number] {
  return lanesOf(seedOf(namespaceId), term)
}

function storedTf(weight: number): number {
  return Math.min(MAX_TF, Math.max(1, Math.round(weight * TF_UNIT)))
}

function seedOf(namespaceId: bigint | number | string): number {
  const id = BigInt(namespaceId)
  return Number((id ^ (id >> 32n)) & 0xffffffffn)
}

/**
 * 64 bits of two independent multiply-xor lanes (the mixing of MurmurHash3, Appleby 2008). Not
 * cryptographic: a collision makes two words of one namespace look alike and nothing else. Stored, so
 * it must never change without reindexing.
 */
function lanesOf(seed: number, term: string): [number, number] {
  let a = 0xdeadbeef ^ seed
  let b = 0x41c6ce57 ^ seed
  for (let i = 0; i < term.length; i++) {
    const code = term.charCodeAt(i)
    a = Math.imul(a ^ code, 2_654_435_761)
    b = Math.imul(b ^ code, 1_597_334_677)
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909)
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909)
  return [b | 0, a | 0]
}

function hashTerm(seed: number, term: string): bigint {
  const [high, low] = lanesOf(seed, term)
  return BigInt.asIntN(64, (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0))
}
