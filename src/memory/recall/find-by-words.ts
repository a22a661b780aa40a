import type { Sql } from '#db/sql.ts'
import { TF_UNIT, termHash } from '../analysis/terms-of.ts'
import type { ItemKind } from './item.ts'
import { selectDated, selectFrequencies, selectMatches } from './lexical.sql.ts'
import type { CorpusSize, MatchQuery, MatchRow, NamespaceRow, TextFilter } from './lexical.sql.ts'
import { selectChunkNeighbours, selectSessionNeighbours } from './neighbours.sql.ts'
import type { Query } from './query.ts'
import type { Reader } from './reader.ts'
import { byOwnWords, scoreUnits } from './score.ts'
import type { Corpus, Scorable, Scored } from './score.ts'
import { groupsFound } from './structure.ts'
import type { Link } from './structure.ts'

/** Beyond this many items a term is common whatever its exact number. */
const MAX_FREQUENCY = 20_000
/** Candidates come from the rarest terms until together they select this many items. */
const MAX_SELECTED = 2_000
/** Of a term that selects more, this many of the newest. */
const MAX_NEWEST = 1_000
/** The best candidates whose neighbours are read. */
const MAX_WIDENED = 24
const MAX_DATED = 200

export interface WordSearch {
  namespace: NamespaceRow
  reader: Reader
  query: Query
  kinds: readonly ItemKind[]
  texts?: TextFilter | undefined
}

/** An item found by words; `item` is its number in the namespace. */
export interface FoundUnit extends Scorable {
  namespace: NamespaceRow
  item: string
  kind: ItemKind
}

export type Found = Scored & { unit: FoundUnit }

/**
 * The items of one namespace that the query's words find, best first: candidates from PostgreSQL, their
 * neighbours, and the score of `scoreUnits`. The query's text never reaches SQL, only the hashes of its
 * terms. Three to six round trips whatever the size of the namespace.
 */
export async function findByWords(sql: Sql, search: WordSearch): Promise<Found[]> {
  const { namespace, reader, query, kinds, texts } = search
  if (query.terms.length === 0) return []
  const words = await understoodBy(sql, search)
  const ask: MatchQuery = { namespaceId: namespace.id, reader, kinds, hashes: words.hashes, texts }
  const span = kinds.includes('observation') ? spanOf(query) : undefined
  const dated = span === undefined ? [] : await selectDated(sql, ask, span, MAX_DATED)
  const corpus = corpusOf(namespace.sizes, words.frequencies)
  const units = new Map<string, FoundUnit>()
  const take = (row: MatchRow) => {
    if (!units.has(row.item)) units.set(row.item, unitOf(namespace, row, words.places))
  }
  for (const row of [...words.matches, ...dated]) take(row)
  const links = await readNeighbours(sql, ask, { units, corpus, namespace, take })
  const groups = groupsFound(units.values(), {
    terms: query.terms.length,
    items: corpus.items,
    averageLength: corpus.averageLength.short,
  })
  return bestFirst(scoreUnits(query, corpus, [...units.values()], { links, groups }) as Found[])
}

export function bestFirst(found: readonly Found[]): Found[] {
  return found
    .filter(({ score }) => score > 0)
    .toSorted((a, b) => b.score - a.score || Number(a.unit.item) - Number(b.unit.item))
}

/** What is searched for: hashes, of which each term of the query has some, and what these match. */
interface Words {
  hashes: bigint[]
  /** For each term of the query the places of its hashes. */
  places: number[][]
  matches: MatchRow[]
  /** How many items hold each term of the query. */
  frequencies: number[]
}

/** The query's own terms; those that nothing holds are searched for by their translations instead. */
async function understoodBy(
  sql: Sql,
  { namespace, reader, query, kinds, texts }: WordSearch,
): Promise<Words> {
  const ask = async (terms: readonly (readonly string[])[]): Promise<Words> => {
    const flat = terms.flat()
    const hashes = flat.map((term) => termHash(namespace.id, term))
    const of = { namespaceId: namespace.id, reader, kinds, hashes, texts }
    const found = await matchesOf(sql, of)
    let next = 0
    const places = terms.map((some) => some.map(() => next++))
    const frequencies = places.map((some) =>
      some.reduce((sum, place) => sum + (found.frequencies[place] ?? 0), 0),
    )
    return { hashes, places, matches: found.matches, frequencies }
  }
  const own = await ask(query.terms.map((term) => [term]))
  const meant = query.terms.map((term, place) => {
    const translations = query.translations[place] ?? []
    return own.frequencies[place] === 0 && translations.length > 0 ? translations : [term]
  })
  return meant.every(([first], place) => first === query.terms[place]) ? own : await ask(meant)
}

/**
 * All items that hold any of the terms, or, where these are too many, those that hold the rarest of
 * them and the newest that hold the next; with how many items hold each term.
 */
async function matchesOf(
  sql: Sql,
  ask: MatchQuery,
): Promise<{ matches: MatchRow[]; frequencies: number[] }> {
  const all = await selectMatches(sql, ask, ask.hashes, { any: MAX_SELECTED + 1 })
  if (all.length <= MAX_SELECTED) {
    const frequencies = ask.hashes.map(
      (_, term) => all.filter(({ tfs }) => (tfs[term] ?? 0) > 0).length,
    )
    return { matches: all, frequencies }
  }
  const frequencies = await selectFrequencies(sql, ask.namespaceId, ask.hashes, MAX_FREQUENCY)
  const { rare, next } = byRarity(ask.hashes, frequencies)
  const found = await Promise.all([
    rare.length === 0 ? [] : selectMatches(sql, ask, rare, { newest: MAX_SELECTED }),
    next === undefined ? [] : selectMatches(sql, ask, [next], { newest: MAX_NEWEST }),
  ])
  return { matches: found.flat(), frequencies }
}

/** Adds the neighbours of the best units to `units` and tells who stands beside whom. */
async function readNeighbours(
  sql: Sql,
  ask: MatchQuery,
  found: {
    units: Map<string, FoundUnit>
    corpus: Corpus
    namespace: NamespaceRow
    take: (row: MatchRow) => void
  },
): Promise<Link[]> {
  const { units, corpus, namespace, take } = found
  const best = byOwnWords([...units.values()], corpus).slice(0, MAX_WIDENED)
  const grouped = (kind: ItemKind) =>
    best.filter((unit) => unit.kind === kind && unit.group !== null).map(({ item }) => item)
  const messages = grouped('observation')
  const chunks = grouped('chunk')
  const [beside, near] = await Promise.all([
    messages.length === 0 ? [] : selectSessionNeighbours(sql, ask, messages),
    chunks.length === 0 ? [] : selectChunkNeighbours(sql, ask, chunks),
  ])
  return [...beside, ...near].map((row) => {
    take(row)
    return {
      from: keyOf(namespace, row.beside),
      to: keyOf(namespace, row.item),
      offset: row.places,
    }
  })
}

/** The rarest terms as long as they select few enough items together, and the first that is too many. */
function byRarity(
  hashes: readonly bigint[],
  frequencies: readonly number[],
): { rare: bigint[]; next: bigint | undefined } {
  const order = hashes
    .map((hash, i) => ({ hash, items: frequencies[i] ?? 0 }))
    .filter(({ items }) => items > 0)
    .toSorted((a, b) => a.items - b.items)
  let selected = 0
  const enough = order.findIndex(({ items }) => (selected += items) > MAX_SELECTED)
  const split = enough === -1 ? order.length : enough
  return { rare: order.slice(0, split).map(({ hash }) => hash), next: order[split]?.hash }
}

function corpusOf(sizes: readonly CorpusSize[], frequencies: readonly number[]): Corpus {
  const average = (...kinds: CorpusSize['kind'][]) => {
    const some = sizes.filter(({ kind }) => kinds.includes(kind))
    const items = some.reduce((sum, row) => sum + row.items, 0)
    return items === 0 ? 1 : some.reduce((sum, row) => sum + row.words, 0) / items
  }
  const document = average('chunk')
  return {
    items: Math.max(
      1,
      ...frequencies,
      sizes.reduce((sum, row) => sum + row.items, 0),
    ),
    frequencies,
    averageLength: { short: average('observation', 'node', 'edge'), document, code: document },
  }
}

function unitOf(
  namespace: NamespaceRow,
  row: MatchRow,
  places: readonly (readonly number[])[],
): FoundUnit {
  return {
    key: keyOf(namespace, row.item),
    namespace,
    item: row.item,
    kind: row.kind,
    group: row.grp,
    author: row.author,
    at: row.startsAt,
    shape: row.shape,
    length: row.words,
    tfs: places.map((some) => some.reduce((sum, at) => sum + (row.tfs[at] ?? 0) / TF_UNIT, 0)),
  }
}

/** Item numbers are distinct within a namespace. */
export function keyOf(namespace: Pick<NamespaceRow, 'id'>, item: string): string {
  return `${namespace.id}:${item}`
}

/** The time the query's dates span with the two weeks around them that still count. */
export function spanOf({ dates }: Query): { from: Date; to: Date } | undefined {
  const bounds = dates.flatMap(({ year, month, day }) => {
    if (year === undefined) return []
    const first = Date.UTC(year, (month ?? 1) - 1, day ?? 1)
    const last = Date.UTC(
      year,
      month === undefined ? 12 : month - 1 + (day === undefined ? 1 : 0),
      day ?? 1,
    )
    return [first - TWO_WEEKS_MS, last + TWO_WEEKS_MS]
  })
  if (bounds.length === 0) return undefined
  const from = Math.min(...bounds)
  const to = Math.min(Math.max(...bounds), END_OF_TIME)
  return { from: new Date(from), to: new Date(to) }
}

const TWO_WEEKS_MS = 14 * 86_400_000
/** No moment that we keep is later. */
const END_OF_TIME = Date.UTC(9999, 11, 31, 23, 59, 59, 999)
