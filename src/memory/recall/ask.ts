import type { AskBody, RecallBody, askMemory, recallMemory } from '#contract/memory-ask.ts'
import { ITEM_KINDS } from '#contract/memory-context.ts'
import type { RouteReply } from '#contract/route.ts'
import type { Sql } from '#db/sql.ts'
import { neutralise } from '#lib/neutralise.ts'
import type { MemoryCtx } from '../access/caller.ts'
import { isReplaced } from '../compile/collapse.ts'
import { sourcesOf } from '../compile/pack.ts'
import type { Indexes } from '../index/indexes.ts'
import { byChunks, hitOf } from '../search.ts'
import { surroundingsOf } from './graph.ts'
import type { Item, Ranked } from './item.ts'
import { loadItems } from './load-items.ts'
import { neutralised } from './neutralised.ts'
import { understand } from './query.ts'
import { rank } from './rank.ts'
import type { Engine } from './gather.ts'
import { readScopeOf } from './read-scope.ts'
import type { ReadScope } from './read-scope.ts'
import type { AnswerInWords } from './answer-in-words.ts'

export interface AskDeps {
  defaultNamespace: string
  indexes: Indexes
  /** Puts an answer into words; undefined where no model is configured. */
  answerInWords: AnswerInWords | undefined
  /** Whether that is done when a request does not say. */
  synthesizes: boolean
}

const FRAGMENTS = { low: 4, mid: 8, high: 16 } as const
const MAX_NEIGHBOURS = 40
const READ_PER_HIT = 4
/** What is answered without a model where nothing was found. */
export const NOTHING_FOUND = 'Nothing in memory answers this question.'

/** The best of what a question finds with its surroundings, and on request an answer in words. */
export async function askMemoryFor(
  sql: Sql,
  ctx: MemoryCtx,
  body: AskBody,
  deps: AskDeps,
): Promise<RouteReply<typeof askMemory>> {
  const { found, ...rest } = await findFor(sql, ctx, { body, limit: body.k, deps })
  const warnings: string[] = []
  let answer: string | null = null
  if (deps.answerInWords && (body.synthesize ?? deps.synthesizes)) {
    answer = found.length === 0 ? NOTHING_FOUND : null
    const texts = found.map(({ item: { id, text, title } }) => ({ id, text, title }))
    const told = answer ?? (await deps.answerInWords(rest.query, texts, ctx.signal))
    if (told === undefined) warnings.push('the model did not answer')
    answer = told === undefined ? null : neutralise(told).text
  }
  return { ...rest, hits: found.map(hitOf), answer, warnings }
}

/** The few fragments that matter most to a question. */
export async function recallMemoryFor(
  sql: Sql,
  ctx: MemoryCtx,
  body: RecallBody,
  deps: AskDeps,
): Promise<RouteReply<typeof recallMemory>> {
  const limit = FRAGMENTS[body.budget]
  const { found, ...rest } = await findFor(sql, ctx, { body, limit, deps })
  return { ...rest, budget: body.budget, fragments: found.map(hitOf) }
}

interface Asked {
  body: Omit<AskBody, 'k' | 'synthesize'>
  limit: number
  deps: AskDeps
}

async function findFor(sql: Sql, ctx: MemoryCtx, { body, limit, deps }: Asked) {
  const scope = await readScopeOf(sql, ctx, body, deps.defaultNamespace)
  const now = new Date()
  const { filters } = body
  const { ranking, stats } = await rank(sql, {
    namespaces: scope.namespaces,
    reader: scope.reader,
    query: understand(body.query),
    kinds: filters ? ['chunk'] : ITEM_KINDS,
    texts: filters,
    channels: new Set(['lexical', 'vector', 'resolve']),
    anchors: [],
    scopes: body.scopes,
    indexes: deps.indexes,
    pool: Math.max(40, READ_PER_HIT * limit),
    now,
  })
  ctx.signal.throwIfAborted()
  const asOf = scope.reader.asOf === null ? now : new Date(scope.reader.asOf)
  const standing = ranking.filter(({ item }) => !isReplaced(item, asOf) && item.text.trim() !== '')
  const found = byChunks(standing).slice(0, limit).map(neutralised)
  const around = await neighboursOf(sql, scope, { hits: standing.slice(0, limit), hops: body.hops })
  const engine: Engine = stats.engine
  return {
    query: neutralise(body.query).text,
    found,
    neighbours: around.map(({ ranked, hops }) => neighbourOf(ranked, hops)),
    sources: sourcesOf([...found, ...around.map(({ ranked }) => ranked)]),
    engine,
  }
}

/** The entities around what was found, nearest first. */
async function neighboursOf(
  sql: Sql,
  { namespaces, reader }: ReadScope,
  { hits, hops }: { hits: readonly Ranked[]; hops: number },
): Promise<{ ranked: Ranked; hops: number }[]> {
  if (hops === 0) return []
  const around = await Promise.all(
    namespaces.map(async (namespace) => {
      const own = hits.filter(({ item }) => item.namespace === namespace.namespace)
      const seeds = [...new Set(own.flatMap(({ item }) => keysOf(item)))]
      if (seeds.length === 0) return []
      const found = { seeds, hops, maxFacts: 0, maxNodes: MAX_NEIGHBOURS }
      return (await surroundingsOf(sql, namespace, reader, found)).nodes
    }),
  )
  const nodes = around
    .flat()
    .toSorted((a, b) => a.hops - b.hops || b.strength - a.strength)
    .slice(0, MAX_NEIGHBOURS)
  const items = await loadItems(sql, reader, nodes)
  return nodes.flatMap(({ key, strength, hops: distance }) => {
    const item = items.get(key)
    if (item === undefined) return []
    return [{ ranked: neutralised({ item, score: strength, signals: {} }), hops: distance }]
  })
}

/** Keys of the entities that an item is or tells of; of a fact its subject, whose neighbour the object is. */
function keysOf({ nodeKey, about }: Item): readonly string[] {
  return nodeKey === null ? about.slice(0, 1) : [nodeKey]
}

function neighbourOf({ item }: Ranked, hops: number) {
  const { type, nodeKey, title, text, sourcePath } = item
  return { kind: type, key: nodeKey ?? '', title, text, hops, source_path: sourcePath }
}
