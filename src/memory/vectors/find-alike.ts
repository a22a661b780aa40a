import { described } from '../index/namespace-index.ts'
import type { NamespaceIndex } from '../index/namespace-index.ts'
import { neighboursOf } from '../index/neighbours.ts'
import { sightOf } from '../index/readable.ts'
import type { ItemKind } from '../recall/item.ts'
import { AUTHOR_FACTOR } from '../recall/score.ts'
import type { NamespaceRow } from '../recall/lexical.sql.ts'
import type { Reader } from '../recall/reader.ts'
import type { VectorIndex } from './vector-index.ts'

export interface AlikeSearch {
  namespace: NamespaceRow
  reader: Reader
  kinds: readonly ItemKind[]
  vector: Float32Array
  /** Whose words are sought, when the question names exactly one author. */
  author: string | undefined
}

export interface Alike {
  item: string
  kind: ItemKind
  /** How near in meaning, its neighbours included. */
  strength: number
}

/** The nearest by themselves, of which the neighbours are looked at. */
const MAX_ALIKE = 400
/**
 * How much each neighbour's nearness counts: what is said in a conversation means little without what it
 * answers. Measured on dialogues with a sentence model.
 */
const NEIGHBOUR_SHARE = 0.3

/**
 * What is nearest in meaning to a vector among what the reader may use, best first: every vector is compared, after
 * the filter, so a rare match is not lost behind an approximation.
 */
export function findAlike(
  index: NamespaceIndex,
  vectors: VectorIndex,
  { namespace, reader, kinds, vector, author }: AlikeSearch,
): Alike[] {
  if (vectors.dimension !== vector.length) return []
  const sight = sightOf(index, reader, kinds, namespace.now)
  const { item } = index.columns
  const similarity = (slot: number): number => {
    const row = vectors.rowOf(item[slot] ?? 0)
    return row === -1 ? 0 : vectors.similarity(row, vector)
  }
  const scores: { slot: number; score: number }[] = []
  for (let slot = 0; slot < index.slots; slot++) {
    if (!sight.isReadable(slot)) continue
    const score = similarity(slot)
    if (score > 0) scores.push({ slot, score })
  }
  const nearest = scores.toSorted((a, b) => b.score - a.score).slice(0, MAX_ALIKE)
  const smoothed = nearest.map(({ slot, score }) => {
    const beside = neighboursOf(index, sight, slot).filter(({ offset }) => Math.abs(offset) === 1)
    const near = beside.reduce((sum, { slot: other }) => sum + similarity(other), 0)
    return { ...described(index, slot), near: score + NEIGHBOUR_SHARE * near }
  })
  // Any two texts are somewhat alike: what is as near as the last of them is near by chance.
  const floor = smoothed.reduce((min, { near }) => Math.min(min, near), Infinity)
  return smoothed
    .map(({ item: number, kind, near, author: by }) => {
      const isTheirs = author !== undefined && by === author
      return { item: number, kind, strength: (near - floor) * (isTheirs ? AUTHOR_FACTOR : 1) }
    })
    .toSorted((a, b) => b.strength - a.strength || Number(a.item) - Number(b.item))
}
