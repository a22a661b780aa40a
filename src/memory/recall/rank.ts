import type { Sql } from '#db/sql.ts'
import { bonusesOf, focusOf, nudgeOf } from './bonuses.ts'
import { CHANNELS, fuse, reciprocalRanks } from './fuse.ts'
import type { Channel, Fused, Hit } from './fuse.ts'
import { gather } from './gather.ts'
import type { Engine, Gathered, GatherRequest } from './gather.ts'
import type { Dropped, Item, Ranked } from './item.ts'
import { isKnowledge } from './knowledge.ts'
import { reranked } from './rerank.ts'
import type { Reranking } from './rerank.ts'
import type { ResolutionReport } from './resolve.ts'

export interface RankRequest extends GatherRequest {
  now: Date
  /** Orders the best anew; undefined where no reranker is configured. */
  reranking?: Reranking | undefined
}

/** One ranking over everything, for search and for the context pack alike. */
export interface Ranking {
  /** Best first; ties by id. */
  ranking: Ranked[]
  /** Found, but too far down to be read. */
  dropped: Dropped[]
  /** What could not be searched as asked. */
  warnings: readonly string[]
  stats: {
    candidates: number
    channels: Partial<Record<Channel, number>>
    identifiers: readonly string[]
    resolved: readonly ResolutionReport[]
    /** Where candidates by words came from. */
    engine: Engine
  }
}

/**
 * Finds by every channel asked for, fuses, and explains each place in `signals`: channels with ranks and
 * parts of the score, the protocol's reciprocal rank sum, and every bonus by name.
 */
export async function rank(sql: Sql, request: RankRequest): Promise<Ranking> {
  const gathered = await gather(sql, request)
  const asOf = request.reader.asOf === null ? request.now : new Date(request.reader.asOf)
  const context = {
    identifiers: request.query.identifiers.map((name) => name.toLowerCase()),
    scopes: new Set(request.scopes),
    asOf,
  }
  const ranking = fuse(gathered.hits).flatMap((fused) => {
    const item = gathered.items.get(fused.key)
    if (item === undefined) return []
    const resolved = gathered.resolvedBy.get(fused.key) ?? null
    const bonuses = bonusesOf(
      {
        text: item.title === null ? item.text : `${item.title}\n${item.text}`,
        scopes: item.scopes,
        at: item.at,
        openFact: item.fact !== null && (item.closedAt === null || item.closedAt > asOf),
        evidence: item.fact?.evidence ?? null,
        resolved,
      },
      context,
    )
    const focus = focusOf(item, context, isKnowledge(item))
    const score = fused.score + nudgeOf(bonuses, focus)
    const signals = signalsOf(fused, item, { bonuses, gathered })
    return [{ item, score, signals: focus > 0 ? { ...signals, focus } : signals }]
  })
  const ordered = ranking.toSorted(byScoreThenId)
  const { reranking, query } = request
  return {
    ranking: reranking ? await reranked(query.text, ordered, reranking) : ordered,
    dropped: gathered.unread,
    warnings: gathered.warnings,
    stats: {
      candidates: ranking.length + gathered.unreadCount,
      channels: countsOf(gathered.hits),
      identifiers: request.query.identifiers,
      resolved: gathered.resolution.report,
      engine: gathered.engine,
    },
  }
}

/** The order of every list of ranked items. */
export function byScoreThenId(a: Ranked, b: Ranked): number {
  if (a.score !== b.score) return b.score - a.score
  return a.item.id < b.item.id ? -1 : Number(a.item.id > b.item.id)
}

function signalsOf(
  fused: Fused,
  item: Item,
  { bonuses, gathered }: { bonuses: Partial<Record<string, number>>; gathered: Gathered },
): Record<string, unknown> {
  const added = Object.values(bonuses).reduce((sum: number, value) => sum + (value ?? 0), 0)
  return {
    channels: fused.channels,
    parts: fused.parts,
    rrf: reciprocalRanks(fused.channels) + added,
    bonuses,
    ...gathered.explanations.get(fused.key),
    ...evidenceOf(fused, item),
  }
}

/** What only vectors found is a guess of ours, whatever it says. */
function evidenceOf({ channels }: Fused, { fact }: Item): { evidence?: string } {
  if (Object.keys(channels).join(' ') === 'vector') return { evidence: 'inferred' }
  return fact === null ? {} : { evidence: fact.evidence }
}

function countsOf(hits: Partial<Record<Channel, readonly Hit[]>>) {
  const counts: Partial<Record<Channel, number>> = {}
  for (const channel of CHANNELS) {
    const found = hits[channel]
    if (found !== undefined) counts[channel] = found.length
  }
  return counts
}
