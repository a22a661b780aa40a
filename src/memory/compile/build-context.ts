import { ITEM_KINDS } from '#contract/memory-context.ts'
import type { ContextBody, ContextPack, MemoryStrategy } from '#contract/memory-context.ts'
import type { Sql } from '#db/sql.ts'
import { neutralise } from '#lib/neutralise.ts'
import type { MemoryCtx } from '../access/caller.ts'
import type { Indexes } from '../index/indexes.ts'
import type { Reranking } from '../recall/rerank.ts'
import type { Meaning } from '../vectors/meaning.ts'
import { CHANNELS } from '../recall/fuse.ts'
import type { Channel } from '../recall/fuse.ts'
import type { Dropped, Ranked } from '../recall/item.ts'
import { neutralised } from '../recall/neutralised.ts'
import { understand } from '../recall/query.ts'
import { rank } from '../recall/rank.ts'
import type { RankRequest, Ranking } from '../recall/rank.ts'
import { readScopeOf } from '../recall/read-scope.ts'
import type { ReadScope } from '../recall/read-scope.ts'
import { redacted } from '../redacted.ts'
import { shown } from '../shown.ts'
import { fillBudget, fitCurrent } from './budget.ts'
import { collapse } from './collapse.ts'
import { conflictsOf } from './conflicts.ts'
import { sectionsOf, sourcesOf } from './pack.ts'
import { hideSuccessors } from './successors.ts'
import { itemsOf, traceOf } from './trace-of.ts'
import { newTraceId } from './trace-queue.ts'
import type { TraceQueue } from './trace-queue.ts'

export interface ContextDeps {
  defaultNamespace: string
  /** Budget of a pack when none is asked. */
  defaultTokens: number
  traces: TraceQueue
  indexes: Indexes
  meaning?: Meaning | undefined
  reranking?: Reranking | undefined
}

const STRATEGY: Readonly<Record<MemoryStrategy, readonly Channel[]>> = {
  semantic: ['vector'],
  exact: ['resolve', 'lexical'],
  graph: ['resolve', 'graph', 'facts'],
  briefing: ['resolve', 'graph', 'facts', 'recent'],
  hybrid: CHANNELS,
  context: CHANNELS,
  '': CHANNELS,
}
/** For each of the `k` asked for: how many of the best by words are read, and how many items are shown. */
const READ_PER_K = 4
const SHOWN_PER_K = 8
const MAX_DROPPED = 200

/** A pack with what it was made of. */
export interface Compiled {
  pack: ContextPack
  scope: ReadScope
  /** Everything that was read, best first. */
  ranking: readonly Ranked[]
  /** Everything left out, also what the pack has no room to tell. */
  dropped: Dropped[]
  now: Date
}

/**
 * Compiles what memory knows about a question into a pack that costs at most `max_tokens`: the caller's
 * own state first, then the best of one ranking, each with its reasons, and what was left out with the
 * reason. Nothing is written but a trace, after the answer and without the power to fail it.
 */
export async function buildContext(
  sql: Sql,
  ctx: MemoryCtx,
  body: ContextBody,
  deps: ContextDeps,
): Promise<ContextPack> {
  const { pack, scope, now } = await compileContext(sql, ctx, body, deps)
  const { names, namespaces, reader } = scope
  deps.traces.push({
    traceId: pack.trace_id,
    names,
    namespaces,
    audience: reader.audience,
    trace: traceOf({ names, body, pack, at: now }),
    items: itemsOf(pack),
  })
  return pack
}

/** The same without a trace, with everything that a question about the pack may need. */
export async function compileContext(
  sql: Sql,
  ctx: MemoryCtx,
  body: ContextBody,
  deps: ContextDeps,
): Promise<Compiled> {
  const started = performance.now()
  const scope = await readScopeOf(sql, ctx, body, deps.defaultNamespace)
  const now = new Date()
  const pool = READ_PER_K * body.k
  const ranking = await rankFor(sql, body, { ...deps, scope, now, pool })
  ctx.signal.throwIfAborted()
  const asOf = scope.reader.asOf === null ? now : new Date(scope.reader.asOf)
  const told = await hideSuccessors(sql, scope.reader, ranking.ranking, scope.namespaces)
  const found = performance.now()
  const { pack, dropped } = compile(body, ranking, chosen(told, body.k, asOf), deps)
  pack.stats.latencies_ms = {
    find: round(found - started),
    compile: round(performance.now() - found),
  }
  return { pack, scope, ranking: told, dropped, now }
}

interface RankedFor extends Pick<
  RankRequest,
  'indexes' | 'meaning' | 'reranking' | 'pool' | 'now'
> {
  scope: ReadScope
}

/** The ranking that a question's pack is made of, with so many of the best by words read. */
export function rankFor(
  sql: Sql,
  body: ContextBody,
  { scope, now, indexes, meaning, reranking, pool }: RankedFor,
): Promise<Ranking> {
  const { subject, anchors } = body
  return rank(sql, {
    namespaces: scope.namespaces,
    reader: scope.reader,
    query: understand(body.query),
    kinds: ITEM_KINDS,
    channels: new Set(STRATEGY[body.strategy ?? '']),
    anchors: [...anchors, ...(subject ? [`${subject.type}:${subject.id}`] : [])],
    scopes: body.scopes,
    indexes,
    meaning,
    reranking,
    pool,
    tellsUnread: true,
    now,
  })
}

/** The best of what says something once repetition is taken out. */
function chosen(ranking: readonly Ranked[], k: number, asOf: Date) {
  const { kept, dropped } = collapse(
    ranking.filter(({ item }) => item.text.trim() !== ''),
    asOf,
  )
  const below = kept
    .slice(SHOWN_PER_K * k)
    .map(({ item: { id, kind }, score }) => ({ id, kind, score, reason: 'below rank' }))
  return { kept: kept.slice(0, SHOWN_PER_K * k).map(neutralised), dropped: [...dropped, ...below] }
}

function compile(
  body: ContextBody,
  { stats, warnings, dropped: unread }: Ranking,
  { kept, dropped }: { kept: Ranked[]; dropped: Dropped[] },
  deps: ContextDeps,
): { pack: ContextPack; dropped: Dropped[] } {
  const maxTokens = body.max_tokens || body.budget?.tokens || deps.defaultTokens
  const current = fitCurrent(stateText(body.ephemeral_context), maxTokens)
  const { fitted, dropped: unfit, truncated } = fillBudget(kept, maxTokens - current.tokens)
  const conflicts = conflictsOf(fitted.map(({ item }) => item))
  const all = [...unfit, ...dropped, ...unread]
  const pack: ContextPack = {
    query: neutralise(body.query).text,
    sections: sectionsOf(fitted, current, conflicts),
    sources: sourcesOf(fitted),
    token_estimate: fitted.reduce((sum, { tokens }) => sum + tokens, current.tokens),
    budget: {
      max_tokens: maxTokens,
      dropped: all
        .slice(0, MAX_DROPPED)
        .map((one) => ({ ...shown(one), score: Number(one.score.toFixed(6)) })),
      truncated: truncated || current.truncated,
    },
    conflicts: [...conflicts.keys()],
    warnings: [...warnings],
    trace_id: newTraceId(),
    stats: {
      ...stats,
      identifiers: redacted(shown([...stats.identifiers])),
      resolved: redacted(shown([...stats.resolved])),
      selected: fitted.length + (current.text === '' ? 0 : 1),
      latencies_ms: {},
    },
  }
  return { pack, dropped: all }
}

function stateText(state: ContextBody['ephemeral_context']): string {
  return state === undefined || state === null || Object.keys(state).length === 0
    ? ''
    : neutralise(JSON.stringify(state, null, 2)).text
}

function round(milliseconds: number): number {
  return Number(milliseconds.toFixed(2))
}
