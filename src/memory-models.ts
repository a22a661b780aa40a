import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Database } from '#db/sql.ts'
import type { Embedder } from '#model/embedder.ts'
import { fakeEmbedder } from '#model/fake-embedder.ts'
import { httpEmbedder } from '#model/http-embedder.ts'
import { httpReranker } from '#model/http-reranker.ts'
import type { Reranker } from '#model/reranker.ts'
import type { MemoryDeps } from '#memory/serve-memory.ts'
import { embedNext } from '#memory/vectors/embed-next.ts'
import { watchJob } from '#observe/watch-job.ts'
import { StartError } from '#lib/start-error.ts'
import type { Config } from './config.ts'
import type { Shared } from './services.ts'

/** Memory's reranker is asked no longer than this, whatever it has to read. */
const RERANK_SECONDS = 12

/** The model that memory embeds with; undefined when it does without. Throws `StartError` when one is not named. */
function embedderOf(config: Config): Embedder | undefined {
  const { CB_EMBEDDING_PROVIDER: provider, CB_EMBEDDING_MODEL: model } = config
  if (provider === 'none') return undefined
  if (provider === 'fake') return fakeEmbedder(config.CB_EMBEDDING_DIM)
  if (model === undefined) throw new StartError('Cannot start: CB_EMBEDDING_MODEL is not set')
  return httpEmbedder({
    url: config.CB_EMBEDDING_URL,
    apiKey: config.CB_EMBEDDING_API_KEY,
    timeoutSeconds: config.CB_EMBEDDING_TIMEOUT,
    model,
    ...(config.CB_EMBEDDING_DIM !== undefined && { dimension: config.CB_EMBEDDING_DIM }),
  })
}

/** What orders memory's best results anew; undefined when nothing does. */
function rerankerOf(config: Config): Reranker | undefined {
  if (!config.CB_RERANK_ENABLED) return undefined
  return httpReranker({
    url: config.CB_RERANK_URL,
    apiKey: config.CB_RERANK_API_KEY,
    timeoutSeconds: RERANK_SECONDS,
    model: config.CB_RERANK_MODEL,
  })
}

/** What memory's service uses of these. */
export function modelsOf(config: Config): Pick<MemoryDeps, 'embedder' | 'reranking'> {
  const reranker = rerankerOf(config)
  return {
    embedder: embedderOf(config),
    reranking: reranker && { reranker, pool: config.CB_RERANK_POOL },
  }
}

const IDLE_SECONDS = 1
const FAILED_SECONDS = 5

/** Embeds what memory holds until the signal aborts; does nothing where no model is configured. */
export async function embeddingService(
  { config, log, metrics, tracing, signal }: Shared,
  db: Database,
): Promise<void> {
  const embedder = embedderOf(config)
  if (embedder === undefined) {
    if (!signal.aborted) await once(signal, 'abort')
    return
  }
  while (!signal.aborted) {
    let pause = FAILED_SECONDS
    await watchJob({ log, metrics, tracing }, 'embeddings', async () => {
      const batches = Number(await embedNext(db, embedder, signal))
      pause = batches === 0 ? IDLE_SECONDS : 0
      return { batches }
    })
    if (pause > 0) await sleep(pause * 1000, undefined, { signal }).catch(() => {})
  }
}
