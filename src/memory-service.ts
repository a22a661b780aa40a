import type { Hono } from 'hono'
import type { Database } from '#db/sql.ts'
import { createMemoryApp } from '#memory/app.ts'
import { watchRequests } from '#observe/watch-requests.ts'
import { coreIdentities, memoryPolicy, memoryTokens } from './identity.ts'
import { wordsSettings } from './language-model.ts'
import { modelsOf } from './memory-models.ts'
import { indexMeter, memoryMeter } from './meters.ts'
import type { Shared } from './services.ts'

/** The memory service's API over one pool. */
export function memoryService(
  { config, log, metrics, tracing }: Pick<Shared, 'config' | 'log' | 'metrics' | 'tracing'>,
  db: Database,
  serverApiKey: string | undefined,
): Hono {
  const settings = {
    serverApiKey,
    apiKeys: config.CB_API_KEYS,
    piiKeys: config.CB_SERVER_API_KEYS_PII,
    piiProtection: config.CB_PII_PROTECTION,
    verifyToken: memoryTokens(config),
    policy: memoryPolicy(config),
    coreIdentities: coreIdentities(config),
    defaultNamespace: config.CB_DEFAULT_NAMESPACE,
    observationsMaxBatch: config.CB_OBSERVATIONS_MAX_BATCH,
    reconcileMaxItems: config.CB_RECONCILE_MAX_ITEMS,
    reconcileChangesLimit: config.CB_RECONCILE_CHANGES_LIMIT,
    contextDefaultMaxTokens: config.CB_CONTEXT_DEFAULT_MAX_TOKENS,
    indexMemoryMb: config.CB_INDEX_MEMORY_MB,
    cacheFolder: config.CB_CACHE_DIR,
    ...wordsSettings(config),
    maxBodyBytes: config.CP_MAX_BODY_BYTES,
    maxKnowledgeBytes: config.CP_KNOWLEDGE_SNAPSHOT_MAX_BODY_BYTES,
    checkReplies: true,
    serverTiming: config.CB_SERVER_TIMING,
  }
  return createMemoryApp({
    db,
    log,
    settings,
    watch: watchRequests({ log, metrics, tracing }),
    meter: memoryMeter(metrics),
    indexMeter: indexMeter(metrics),
    ...modelsOf(config),
  })
}
