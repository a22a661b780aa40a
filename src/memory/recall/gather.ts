import type { Sql } from '#db/sql.ts'
import { adjustmentOf } from './adjust.ts'
import { adjustedAlike, alikeIn, warningsOf, withWords } from './by-meaning.ts'
import { findInIndex } from '../index/find-in-index.ts'
import type { Indexes } from '../index/indexes.ts'
import type { Meaning } from '../vectors/meaning.ts'
import { findByWords } from './find-by-words.ts'
import type { Found } from './find-by-words.ts'
import type { Channel, Hit } from './fuse.ts'
import { surroundingsOf } from './graph.ts'
import type { Dropped, Item, ItemKind } from './item.ts'
import { loadItems } from './load-items.ts'
import type { Reference } from './load-items.ts'
import { selectIds } from './lexical.sql.ts'
import type { NamespaceRow, TextFilter } from './lexical.sql.ts'
import type { Query } from './query.ts'
import type { Reader } from './reader.ts'
import { recentIn } from './recent.ts'
import { resolveNames } from './resolve.ts'
import type { Resolution, ResolvedEntity } from './resolve.ts'

export interface GatherRequest {
  namespaces: readonly NamespaceRow[]
  reader: Reader
  query: Query
  kinds: readonly ItemKind[]
  channels: ReadonlySet<Channel>
  /** Scopes of the request: what the question is about. */
  scopes: readonly string[]
  /** Names given with the request: anchors and the subject. */
  anchors: readonly string[]
  /** How many of the best by words are read. */
  pool: number
  /** Keeps to some texts; then the database is asked, which knows what belongs to them. */
  texts?: TextFilter | undefined
  /** Whether what was found and not read is told by name. */
  tellsUnread?: boolean
  indexes: Indexes
  /** Search by meaning; undefined where no model is configured. */
  meaning?: Meaning | undefined
}

/** What the channels found, with the items read. */
export interface Gathered {
  items: Map<string, Item>
  hits: Partial<Record<Channel, Hit[]>>
  /** Why an item has its score by words. */
  explanations: Map<string, Record<string, unknown>>
  resolution: Resolution
  resolvedBy: Map<string, 'exact' | 'suffix'>
  /** Found by words but not among the best, nor in another way. */
  unread: Dropped[]
  /** How many those are, named or not. */
  unreadCount: number
  /** Where candidates by words came from. */
  engine: Engine
  /** What could not be searched as asked. */
  warnings: string[]
}

/** The index of this process, or the database for a namespace that has none here. */
export type Engine = 'index' | 'database'

/** A finding that is still to be read. */
export type Find = Hit & Reference

const MAX_LEXICAL_SEEDS = 3
const MAX_UNREAD = 50

/** Asks the channels, all namespaces at once, and reads what they found. */
export async function gather(sql: Sql, request: GatherRequest): Promise<Gathered> {
  const { reader, kinds, query, pool } = request
  const [{ found, engine }, alike, resolution, recent] = await Promise.all([
    wordsIn(sql, request),
    alikeIn(sql, request),
    namesIn(sql, request),
    request.kinds.includes('observation') && request.channels.has('recent')
      ? recentIn(sql, request)
      : [],
  ])
  const read = found.slice(0, pool)
  const [byWords, unread] = await Promise.all([
    loadItems(sql, reader, [...read.map(referenceOf), ...recent, ...(alike ?? [])]),
    request.tellsUnread === true
      ? unreadOf(sql, found.slice(pool, pool + MAX_UNREAD), found[0]?.score ?? 1)
      : [],
  ])
  const lexical = adjusted(query, read, byWords)
  const resolved = resolution.entities.map((entity, place) => findOf(entity, place))
  const around = await aroundSeeds(sql, request, [
    ...resolution.entities,
    ...seedsOf(lexical.hits, byWords, request.namespaces),
  ])
  const wanted = [...resolved, ...around.facts, ...around.nodes].filter(
    ({ key, kind }) => kinds.includes(kind) && !byWords.has(key),
  )
  const others = await loadItems(sql, reader, wanted)
  const items = new Map([...byWords, ...others])
  const shown = new Set(Array.from(items.values(), ({ id }) => id))
  return {
    items,
    hits: channelsOf(withWords(request.channels, alike), items, {
      resolve: resolved,
      lexical: lexical.hits,
      vector: adjustedAlike(query, alike ?? [], byWords),
      facts: around.facts,
      graph: around.nodes,
      recent,
    }),
    explanations: lexical.explanations,
    resolution,
    resolvedBy: new Map(resolution.entities.map((entity) => [keyOf(entity), entity.how])),
    unread: unread.filter(({ id }) => !shown.has(id)),
    unreadCount: found.slice(pool).filter(({ unit }) => !items.has(unit.key)).length,
    engine,
    warnings: warningsOf(request, alike),
  }
}

/** The findings of the channels asked for, of items that were read. */
function channelsOf(
  channels: ReadonlySet<Channel>,
  items: ReadonlyMap<string, Item>,
  hits: Partial<Record<Channel, readonly Hit[]>>,
): Gathered['hits'] {
  const asked = Object.entries(hits).filter(([channel]) => channels.has(channel as Channel))
  return Object.fromEntries(
    asked.map(([channel, found]) => [channel, found.filter(({ key }) => items.has(key))]),
  )
}

async function namesIn(sql: Sql, request: GatherRequest): Promise<Resolution> {
  if (!request.channels.has('resolve')) return { entities: [], report: [] }
  return await resolveNames(sql, request.namespaces, request.reader, namesOf(request))
}

function findOf(entity: ResolvedEntity, place: number): Find {
  const { namespace, item, how } = entity
  return {
    key: keyOf(entity),
    namespace,
    item,
    kind: 'entity',
    strength: (how === 'exact' ? 1 : 0.4) * (1 - place / 100),
  }
}

async function wordsIn(
  sql: Sql,
  request: GatherRequest,
): Promise<{ found: Found[]; engine: Engine }> {
  const { namespaces, channels, reader, query, kinds, texts } = request
  if (!channels.has('lexical') && !channels.has('vector')) return { found: [], engine: 'index' }
  const searches = await Promise.all(
    namespaces.map(async (namespace) => {
      const index = texts ? undefined : await request.indexes.upToDate(sql, namespace)
      const search = { namespace, reader, query, kinds, texts }
      return index
        ? { found: findInIndex(index, search), engine: 'index' as const }
        : { found: await findByWords(sql, search), engine: 'database' as const }
    }),
  )
  const found = searches.flatMap((search) => search.found)
  return {
    found: searches.length === 1 ? found : found.toSorted((a, b) => b.score - a.score),
    engine: searches.some(({ engine }) => engine === 'database') ? 'database' : 'index',
  }
}

/**
 * Anchors first, then what the query spells like a key or an identifier, without what is only a part of
 * another.
 */
function namesOf({ anchors, query }: GatherRequest): string[] {
  const keys = query.text.match(/(?<!\S)[a-z][a-z0-9._-]*:[^\s,;]+/gu) ?? []
  const spelt = [...keys.map((key) => key.replace(/[.?!)]+$/u, '')), ...query.identifiers]
  const whole = spelt.filter(
    (name) => !spelt.some((other) => other.length > name.length && other.includes(name)),
  )
  return [...anchors, ...whole]
}

/** The score by words once the texts are read. */
function adjusted(query: Query, read: readonly Found[], items: ReadonlyMap<string, Item>) {
  const explanations = new Map<string, Record<string, unknown>>()
  const hits = read.flatMap(({ unit, score, words, session, letters, date, author }) => {
    const item = items.get(unit.key)
    if (item === undefined) return []
    const { factor, signals } = adjustmentOf(query, item.text)
    const beside = unit.tfs.length > 0 && !hasOwnMatch(unit, letters + date)
    explanations.set(unit.key, {
      lexical: { words, session, letters, date, author, ...signals, ...(beside && { beside }) },
    })
    return [{ key: unit.key, strength: (score - date) * factor + date }]
  })
  return { hits: hits.toSorted((a, b) => b.strength - a.strength), explanations }
}

/** Whether an item holds anything of the question itself, and not only stands beside what does. */
function hasOwnMatch({ tfs }: Found['unit'], otherwise: number): boolean {
  for (let i = 0; i < tfs.length; i++) if ((tfs[i] ?? 0) > 0) return true
  return otherwise > 0
}

interface Seed {
  namespace: NamespaceRow
  nodeKey: string
}

/** The entities that the best texts belong to. */
function seedsOf(
  hits: readonly Hit[],
  items: ReadonlyMap<string, Item>,
  namespaces: readonly NamespaceRow[],
): Seed[] {
  return hits
    .flatMap(({ key }) => {
      const item = items.get(key)
      const namespace = namespaces.find((one) => one.namespace === item?.namespace)
      if (item === undefined || item.nodeKey === null || namespace === undefined) return []
      return [{ namespace, nodeKey: item.nodeKey }]
    })
    .slice(0, MAX_LEXICAL_SEEDS)
}

async function aroundSeeds(sql: Sql, request: GatherRequest, seeds: readonly Seed[]) {
  const { namespaces, reader, channels, anchors } = request
  if (!channels.has('graph') && !channels.has('facts')) return { facts: [], nodes: [] }
  const around = await Promise.all(
    namespaces.map((namespace) => {
      const keys = seeds
        .filter((seed) => seed.namespace === namespace)
        .map(({ nodeKey }) => nodeKey)
      const seedKeys = [...new Set([...anchors, ...keys])]
      return surroundingsOf(sql, namespace, reader, { seeds: seedKeys, maxFacts: request.pool })
    }),
  )
  return {
    facts: around.flatMap(({ facts }) => facts).toSorted((a, b) => b.strength - a.strength),
    nodes: around.flatMap(({ nodes }) => nodes).toSorted((a, b) => b.strength - a.strength),
  }
}

async function unreadOf(sql: Sql, found: readonly Found[], top: number): Promise<Dropped[]> {
  const groups = Map.groupBy(found, ({ unit }) => unit.namespace.id)
  const rows = await Promise.all(
    Array.from(groups, async ([id, units]) => {
      const items = units.map(({ unit }) => unit.item)
      return (await selectIds(sql, id, items)).map((row) => [`${id}:${row.item}`, row.id] as const)
    }),
  )
  const ids = new Map<string, string>(rows.flat())
  return found.flatMap(({ unit, score }) => {
    const id = ids.get(unit.key)
    if (id === undefined) return []
    return [{ id, kind: unit.kind, score: score / top, reason: 'below rank' }]
  })
}

function referenceOf({ unit }: Found): Reference {
  const { namespace, item, kind } = unit
  return { namespace, item, kind }
}

function keyOf({ namespace, item }: { namespace: NamespaceRow; item: string }): string {
  return `${namespace.id}:${item}`
}
