import type { Hono } from 'hono'
import type { BatchResult } from '#contract/memory.ts'
import type { Route, RouteReply } from '#contract/route.ts'
import type { Database } from '#db/sql.ts'
import { serve } from '#http/serve.ts'
import type { Api, RequestInput } from '#http/serve.ts'
import type { Watch } from '#http/served.ts'
import type { Log } from '#lib/log.ts'
import type { Complete } from '#model/chat.ts'
import type { Turns } from '#lib/turns.ts'
import type { Embedder } from '#model/embedder.ts'
import type { MemoryCtx } from './access/caller.ts'
import type { CallerSettings } from './access/token-caller.ts'
import type { PackCache } from './packs/pack-cache.ts'
import type { IndexMeter, Indexes } from './index/indexes.ts'
import type { Reranking } from './recall/rerank.ts'
import type { Meaning } from './vectors/meaning.ts'

export interface MemorySettings extends CallerSettings {
  /** Labels of callers who may reconcile beside service credentials; null for whoever a grant covers. */
  coreIdentities: readonly string[] | null
  /** Whether personal data is masked for those who are not cleared for it. */
  piiProtection?: boolean
  defaultNamespace: string
  observationsMaxBatch: number
  reconcileMaxItems: number
  /** How many changed entities an answer names. */
  reconcileChangesLimit: number
  /** Budget of a pack when none is asked. */
  contextDefaultMaxTokens: number
  /** What the search indexes of this process may take together; 0 keeps none. */
  indexMemoryMb: number
  /** The model that puts answers into words; undefined where none is configured. */
  llm: Complete | undefined
  /** Whether a question is answered in words unless it says. */
  synthesizesByDefault: boolean
  /** Folder where search indexes are kept across restarts; undefined for nowhere. */
  cacheFolder: string | undefined
  /** Largest bodies, in bytes: of questions, and of what brings knowledge. */
  maxBodyBytes: number
  maxKnowledgeBytes: number
  checkReplies: boolean
  /** Whether answers say in `Server-Timing` how long they took. */
  serverTiming?: boolean
}

export interface MemoryDeps {
  db: Database
  log: Log
  settings: MemorySettings
  watch?: Watch
  meter?: MemoryMeter
  /** Told what becomes of the search indexes. */
  indexMeter?: IndexMeter
  /** Search by meaning; without a model of embeddings there is none. */
  embedder?: Embedder | undefined
  reranking?: Reranking | undefined
}

/** Told what came into memory. */
export interface MemoryMeter {
  recorded: (results: readonly BatchResult[]) => void
  stored: (kind: 'document' | 'snapshot', outcome: 'changed' | 'unchanged') => void
}

/**
 * What the parts of the service share: turns by namespace, so that who asks for much leaves connections
 * and time to others. Writers of one namespace would wait for each other anyhow.
 */
export interface MemoryParts extends MemoryDeps {
  readers: Turns
  writers: Turns
  indexes: Indexes
  packs: PackCache
  meaning: Meaning | undefined
  reranking: Reranking | undefined
}

/** Runs the work when the namespace has its turn, unless the caller is gone by then. */
export async function inTurn<T>(
  turns: Turns,
  { signal }: MemoryCtx,
  namespace: string,
  work: () => Promise<T>,
): Promise<T> {
  const turn = await turns.enter(namespace, signal)
  try {
    return await work()
  } finally {
    turn[Symbol.dispose]()
  }
}

export type MemoryHandler<R extends Route> = (
  ctx: MemoryCtx,
  input: RequestInput<R>,
) => Promise<RouteReply<R>>

/**
 * Serves a route of the memory service. Handlers open their own transactions: much of a write can be
 * worked out before the namespace has to be held.
 */
export function serveMemory<R extends Route>(
  app: Hono,
  api: Api<MemoryCtx>,
  route: R,
  handler: MemoryHandler<R>,
): void {
  serve(app, api, route, async (ctx, input) => {
    const body = await handler(ctx, input)
    return { status: route.statuses[0] ?? 200, body }
  })
}
