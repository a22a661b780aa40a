import { TF_UNIT, termLanes } from '../analysis/terms-of.ts'
import { bestFirst, keyOf, spanOf } from '../recall/find-by-words.ts'
import type { Found, FoundUnit, WordSearch } from '../recall/find-by-words.ts'
import type { Query } from '../recall/query.ts'
import { scoreUnits } from '../recall/score.ts'
import type { Corpus } from '../recall/score.ts'
import type { Link } from '../recall/structure.ts'
import { bestSlots, frequenciesOf } from './best-slots.ts'
import { bestByLetters, letterQuery, letterScores } from './by-letters.ts'
import { groupCorpusOf } from './group-corpus.ts'
import { SHAPES, described } from './namespace-index.ts'
import type { NamespaceIndex } from './namespace-index.ts'
import { neighboursOf } from './neighbours.ts'
import { frequenciesIn } from './postings.ts'
import type { Segment } from './postings.ts'
import { sightOf } from './readable.ts'
import type { Sight } from './readable.ts'

/** Items looked at closely, by their own words. */
const MAX_CANDIDATES = 300
/** The best of them whose neighbours are looked at too. */
const MAX_WIDENED = 150
const MAX_DATED = 200
const MAX_BY_LETTERS = 100

/**
 * The items of one namespace that the query's words find, best first, from its index alone: what
 * `findByWords` reads from the database, over all that matches instead of a selection.
 */
export function findInIndex(index: NamespaceIndex, search: WordSearch): Found[] {
  const { namespace, reader, query, kinds } = search
  const sight = sightOf(index, reader, kinds, namespace.now)
  const { terms, frequencies } = understoodBy(index, sight, query)
  const corpus = corpusOf(index, sight, frequencies)
  const best = bestSlots(index, sight, { terms, boosts: [], corpus }, MAX_CANDIDATES)
  const byLetters = letterSearch(index, sight, query.terms, corpus)
  const slots = new Set([...best, ...datedSlots(index, sight, search), ...byLetters.best])
  const links: Link[] = []
  for (const slot of best.slice(0, MAX_WIDENED)) {
    for (const { slot: other, offset } of neighboursOf(index, sight, slot)) {
      slots.add(other)
      links.push({ from: keyAt(index, slot), to: keyAt(index, other), offset })
    }
  }
  const units = unitsOf(index, search, terms, slots)
  const groups = groupCorpusOf(index, sight, terms, slots)
  const letters = new Map(
    Array.from(byLetters.scores([...slots]), ([slot, score]) => [keyAt(index, slot), score]),
  )
  return bestFirst(scoreUnits(query, corpus, units, { links, groups, letters }) as Found[])
}

/**
 * The postings of each term; for a term that nothing readable holds, those of its translations as if they
 * were one term. Source: Pirkola, "The effects of query structure and dictionary setups in
 * dictionary-based cross-language information retrieval", SIGIR 1998.
 */
function understoodBy(
  index: NamespaceIndex,
  sight: Sight,
  { terms, translations }: Query,
): { terms: Segment[][]; frequencies: number[] } {
  const own = terms.map((term) => segmentsOf(index, term))
  const known = frequenciesOf(own, sight)
  const meant = own.map((segments, place) =>
    known[place] === 0
      ? (translations[place] ?? []).flatMap((term) => segmentsOf(index, term))
      : segments,
  )
  return { terms: meant, frequencies: frequenciesOf(meant, sight) }
}

/**
 * What is spelt like the question: documents always, for other forms of a word and names in another
 * alphabet; anything else only when no word of the question is known. In dialogues and in code it costs a
 * point or two where words are found.
 */
function letterSearch(
  index: NamespaceIndex,
  sight: Sight,
  terms: readonly string[],
  corpus: Corpus,
): { best: number[]; scores: (slots: readonly number[]) => Map<number, number> } {
  const isUnknown = corpus.frequencies.every((df) => df === 0)
  const shapes = SHAPES.map((shape) => isUnknown || shape === 'document')
  const scope = { index, corpus, sight, shapes }
  // Without documents that the reader sees nothing could be found.
  if (!isUnknown && index.tallies.seen(sight.audiences).texts.items === 0)
    return { best: [], scores: () => new Map() }
  const letters = letterQuery(scope, terms)
  return {
    best: bestByLetters(scope, letters, MAX_BY_LETTERS),
    scores: (slots) => letterScores(scope, letters, slots),
  }
}

function segmentsOf({ namespaceId, terms, postings }: NamespaceIndex, term: string): Segment[] {
  const number = terms.find(...termLanes(namespaceId, term))
  return number === -1 ? [] : postings.segments(number)
}

function corpusOf(index: NamespaceIndex, sight: Sight, frequencies: readonly number[]): Corpus {
  const { texts, shorts } = index.tallies.seen(sight.audiences)
  const document = texts.items === 0 ? 1 : texts.words / texts.items
  const short = shorts.items === 0 ? 1 : shorts.words / shorts.items
  return {
    items: Math.max(1, texts.items + shorts.items, ...frequencies),
    frequencies,
    averageLength: { short, document, code: document },
  }
}

/** What happened in the time that the query names, whatever its words. */
function datedSlots(index: NamespaceIndex, sight: Sight, { query }: WordSearch): number[] {
  const span = spanOf(query)
  if (span === undefined) return []
  const from = span.from.getTime() * 1_000
  const to = span.to.getTime() * 1_000
  const { startsAt, kind } = index.columns
  const found: number[] = []
  for (let slot = 0; slot < index.slots && found.length < MAX_DATED; slot++) {
    const at = startsAt[slot] ?? 0
    if (kind[slot] === 0 && at >= from && at < to && sight.isReadable(slot)) found.push(slot)
  }
  return found
}

function keyAt(index: NamespaceIndex, slot: number): string {
  return keyOf({ id: index.namespaceId }, String(index.columns.item[slot] ?? 0))
}

/** The slots as units to score, with how often each term stands in them. */
function unitsOf(
  index: NamespaceIndex,
  { namespace }: WordSearch,
  terms: readonly Segment[][],
  slots: Iterable<number>,
): FoundUnit[] {
  const sorted = Int32Array.from(slots).toSorted()
  const byTerm = terms.map((segments) => frequenciesIn(segments, sorted))
  return Array.from(sorted, (slot, row) => ({
    ...described(index, slot),
    key: keyAt(index, slot),
    namespace,
    tfs: byTerm.map((tfs) => (tfs[row] ?? 0) / TF_UNIT),
  }))
}
