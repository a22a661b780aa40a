import { ITEM_KINDS } from '#contract/memory-context.ts'
import type { SearchBody, SearchHit } from '#contract/memory-context.ts'
import type { Sql } from '#db/sql.ts'
import type { MemoryCtx } from './access/caller.ts'
import { isReplaced } from './compile/collapse.ts'
import type { Reranking } from './recall/rerank.ts'
import type { Meaning } from './vectors/meaning.ts'
import { neutralised } from './recall/neutralised.ts'
import type { Indexes } from './index/indexes.ts'
import type { Ranked } from './recall/item.ts'
import { understand } from './recall/query.ts'
import { listed } from './recall/listed.ts'
import { rank } from './recall/rank.ts'
import { readScopeOf } from './recall/read-scope.ts'

const DEFAULT_HITS = 20
/** Texts are read of more than are asked for: what they say moves some. */
const POOL_FACTOR = 2

export interface SearchRequest {
  body: SearchBody
  defaultNamespace: string
  indexes: Indexes
  meaning: Meaning | undefined
  reranking: Reranking | undefined
}

/**
 * Ranks everything a question finds, of all kinds together, best first. What another item replaced is
 * not found, and a document is found by its chunks; everything else is judged by its score alone. With a
 * type it lists what is of that type instead, by key.
 */
export async function search(
  sql: Sql,
  ctx: MemoryCtx,
  { body, defaultNamespace, indexes, meaning, reranking }: SearchRequest,
): Promise<{ hits: SearchHit[]; engine: string }> {
  const { namespaces, reader } = await readScopeOf(sql, ctx, body, defaultNamespace)
  const { type, meta, limit: most } = body.filters ?? {}
  const limit = body.k ?? most ?? DEFAULT_HITS
  if (type !== undefined) {
    const items = await listed(sql, { namespaces, reader, type, meta, limit })
    const hits = items.map((item) => hitOf(neutralised({ item, score: 0, signals: {} })))
    return { hits, engine: 'database' }
  }
  const now = new Date()
  const { ranking, stats } = await rank(sql, {
    namespaces,
    reader,
    query: understand(body.query),
    kinds: meta ? ['chunk'] : (body.kinds ?? ITEM_KINDS),
    texts: meta && { meta },
    channels: new Set(['lexical', 'vector', 'resolve']),
    anchors: [],
    scopes: body.scopes,
    indexes,
    meaning,
    reranking,
    pool: Math.max(40, POOL_FACTOR * limit),
    now,
  })
  const asOf = reader.asOf === null ? now : new Date(reader.asOf)
  const standing = ranking.filter(({ item }) => !isReplaced(item, asOf))
  return {
    hits: byChunks(standing).slice(0, limit).map(neutralised).map(hitOf),
    engine: stats.engine,
  }
}

/** Without the entities whose own chunks are among the hits: they would say the same twice. */
export function byChunks(ranking: readonly Ranked[]): Ranked[] {
  const documents = new Set(
    ranking.flatMap(({ item }) =>
      item.kind === 'chunk' ? [`${item.namespace}\n${item.nodeKey}`] : [],
    ),
  )
  return ranking.filter(
    ({ item }) => item.kind !== 'entity' || !documents.has(`${item.namespace}\n${item.nodeKey}`),
  )
}

export function hitOf({ item, score, signals }: Ranked): SearchHit {
  const { kind, id, text, title, nodeKey, chunkOrder, source } = item
  return {
    kind,
    id,
    score: Number(score.toFixed(6)),
    text,
    title,
    node_key: nodeKey,
    chunk_order: chunkOrder,
    source,
    signals,
  }
}
