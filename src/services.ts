import { setTimeout as sleep } from 'node:timers/promises'
import type { Hono } from 'hono'
import { createMemorySink } from '#adapter/memory-sink.ts'
import { runAdapter } from '#adapter/run-adapter.ts'
import { expireUploads } from '#artifacts/expire-uploads.ts'
import { collectBlobs } from '#blobs/collect.ts'
import type { BlobStore } from '#blobs/store.ts'
import type { AdapterDeps } from '#adapter/run-adapter.ts'
import type { MemoryOptions } from '#client/memory.ts'
import { finishErasures } from '#context/finish-erasures.ts'
import type { Database } from '#db/sql.ts'
import { Heads } from '#events/heads.ts'
import type { Notify } from '#lib/appended.ts'
import { deleteExpiredRecords } from '#http/idempotency.sql.ts'
import { createPlaces } from '#http/places.ts'
import type { Tracing } from '#lib/tracing.ts'
import type { Metrics } from '#observe/metrics.ts'
import type { Probes } from '#observe/probes.ts'
import { watchJob } from '#observe/watch-job.ts'
import type { Done } from '#observe/watch-job.ts'
import { watchRequests } from '#observe/watch-requests.ts'
import type { Log } from '#lib/log.ts'
import { newId } from '#lib/id.ts'
import { retainJournals } from '#journal/retain-journals.ts'
import { createControlPlaneApi } from '#org/routes.ts'
import { reapInvocations } from '#invocations/reap-invocations.ts'
import { leasesOf } from '#work/lease.ts'
import { reapExpired } from '#work/reap-expired.ts'
import { createControlPlane } from './app.ts'
import { providerOf } from './memory-provider.ts'
import type { Config } from './config.ts'
import { contextTokens, controlPlaneTokens, deciderOf } from './identity.ts'
import type { Databases } from './databases.ts'
import {
  aroundMemory,
  contentMeter,
  contextMeter,
  countingClaims,
  countTurn,
  streamMeter,
} from './meters.ts'
import { allowedTargets, webhookService } from './webhook-service.ts'

/** What the services of one process share. */
export interface Shared {
  config: Config
  log: Log
  databases: Databases
  metrics: Metrics
  tracing: Tracing
  signal: AbortSignal
}

const DEFAULT_MEMORY_URL = 'http://localhost:8077'

/** How the control plane reaches memory; undefined when it is to do without. */
export function memoryOf(
  { config, metrics, tracing }: Pick<Shared, 'config' | 'metrics' | 'tracing'>,
  ownKey?: string,
): MemoryOptions | undefined {
  if ((config.CP_CONTEXT_PROVIDER ?? 'none') === 'none') return undefined
  const tokens = contextTokens(config)
  return {
    url: config.CP_CONTEXT_BASE_URL ?? DEFAULT_MEMORY_URL,
    apiKey: config.CP_CONTEXT_API_KEY ?? ownKey ?? '',
    around: aroundMemory({ metrics, tracing }),
    ...(tokens && { tokens }),
  }
}

/** Where journals end, for the streams of this process. */
export function createHeads({ config, log, databases }: Shared, db: Database): Heads {
  return new Heads({
    db,
    address: databases.addressOf('control_plane'),
    pollSeconds: config.CP_WS_POLL_INTERVAL_SECONDS,
    onError: (error) => log.error('Cannot look for new events', error),
  })
}

export interface ApiParts {
  memory: MemoryOptions | undefined
  notify: Notify
  heads: Heads
  probes: Probes
  store: BlobStore
}

/** The control plane's API over one pool. */
export function apiService(
  { config, log, metrics, tracing, signal }: Shared,
  db: Database,
  { memory, notify, heads, probes, store }: ApiParts,
): Hono {
  const limits = {
    defaultBytes: config.CP_MAX_BODY_BYTES,
    knowledgeBytes: config.CP_KNOWLEDGE_SNAPSHOT_MAX_BODY_BYTES,
  }
  const api = createControlPlaneApi({
    db,
    limits,
    checkReplies: true,
    bootstrapToken: config.CP_BOOTSTRAP_TOKEN,
    identifyToken: controlPlaneTokens(config, db),
    decide: deciderOf({ config, metrics, log }, db),
    keys: {
      localKeys: config.CP_LEGACY_API_KEYS_ENABLED,
      breakGlassSeconds: config.CP_BREAK_GLASS_ENABLED ? config.CP_BREAK_GLASS_MAX_TTL_SECONDS : 0,
    },
  })
  const uploads = {
    maxBytes: config.CP_ARTIFACT_MAX_BYTES,
    ttlSeconds: config.CP_ARTIFACT_UPLOAD_TTL_SECONDS,
  }
  return createControlPlane({
    db,
    content: { store, limits: uploads, meter: contentMeter(metrics) },
    log,
    api,
    webhooks: { allowed: allowedTargets(config) },
    journal: {
      minAgeSeconds: config.CP_JOURNAL_RETENTION_MIN_AGE_SECONDS,
      streams: {
        heads,
        stopping: signal,
        meter: streamMeter(metrics),
        beatSeconds: config.CP_STREAM_BEAT_SECONDS,
        stallSeconds: config.CP_STREAM_STALL_SECONDS,
        places: createPlaces({
          each: config.CP_STREAMS_PER_PRINCIPAL,
          all: config.CP_STREAMS_PER_PROCESS,
        }),
      },
    },
    watch: countingClaims(metrics, watchRequests({ log, metrics, tracing })),
    notify,
    probes,
    leases: leasesOf({
      sessionSeconds: config.CP_SESSION_TTL_SECONDS,
      claimSeconds: config.CP_CLAIM_TTL_SECONDS,
    }),
    context: {
      provider: memory ? providerOf(config, memory) : null,
      metrics: contextMeter(metrics),
      packAdmins: config.CP_KNOWLEDGE_PACK_ADMINS ?? [],
    },
  })
}

/** Replays the journal into memory until the signal aborts; waits idly when there is no memory. */
export async function adapterService(
  shared: Shared,
  db: Database,
  memory: MemoryOptions | undefined,
): Promise<void> {
  const { config, log, databases, metrics, tracing, signal } = shared
  if (!memory) {
    log.info('Adapter idles: no memory is configured (CP_CONTEXT_PROVIDER is not http)')
    await sleep(2 ** 31 - 1, undefined, { signal }).catch(() => {})
    return
  }
  const sink = createMemorySink({
    memory,
    namespacePrefix: config.CP_CONTEXT_NAMESPACE_PREFIX,
    timeoutSeconds: config.CP_CONTEXT_INGEST_TIMEOUT_SECONDS,
    traceRunId: `adapter_${newId().replaceAll('-', '')}`,
  })
  const settings = {
    tenantBatchSize: config.CP_CONTEXT_TENANT_BATCH_SIZE ?? config.CP_CONTEXT_BATCH_SIZE ?? 100,
    maxTenantsPerCycle: config.CP_CONTEXT_MAX_TENANTS_PER_CYCLE,
    concurrency: config.CP_CONTEXT_ADAPTER_CONCURRENCY,
    pollSeconds: config.CP_CONTEXT_POLL_INTERVAL_SECONDS,
    backoffBaseSeconds: config.CP_CONTEXT_RETRY_BACKOFF_BASE_SECONDS,
    backoffMaxSeconds: config.CP_CONTEXT_RETRY_BACKOFF_MAX_SECONDS,
  }
  const address = databases.addressOf('control_plane')
  const traced: AdapterDeps['traced'] = (name, attributes, work) =>
    tracing.span(name, { attributes }, work)
  const deps = { db, address, sink, settings, log, traced }
  const onLeading = (isLeading: boolean) => metrics.adapterLeads.set(Number(isLeading))
  const delivering = runAdapter(
    { ...deps, onLeading, onTurn: (turn) => countTurn(metrics, turn) },
    signal,
  )
  await Promise.all([delivering, erasingService(shared, db, memory)])
}

/** Tells memory of erasures that it has not confirmed, until the signal aborts. */
async function erasingService(
  { config, log, metrics, tracing, signal }: Shared,
  db: Database,
  memory: MemoryOptions,
): Promise<void> {
  const erasing = {
    ...memory,
    namespacePrefix: config.CP_CONTEXT_NAMESPACE_PREFIX,
    timeoutSeconds: config.CP_CONTEXT_INGEST_TIMEOUT_SECONDS,
  }
  while (!signal.aborted) {
    await watchJob({ log, metrics, tracing }, 'erasures', async () => ({
      erasures: await finishErasures(db, erasing, signal),
    }))
    const seconds = config.CP_CONTEXT_POLL_INTERVAL_SECONDS
    await sleep(seconds * 1000, undefined, { signal }).catch(() => {})
  }
}

const REAP_BATCH = 200
const CLEAN_UP_BATCH = 1000

/**
 * Ends leases whose time is up, removes expired records and content that nothing refers to, keeps journals
 * short and delivers webhooks, until the signal aborts. Each kind of work goes at its own pace; any number of
 * workers may do it at once.
 */
export async function workerService(
  shared: Shared,
  db: Database,
  { notify, store }: Pick<ApiParts, 'notify' | 'store'>,
): Promise<void> {
  const { config, log, metrics, tracing, signal } = shared
  const repeat = async (name: string, seconds: number, work: () => Promise<Done | void>) => {
    while (!signal.aborted) {
      await watchJob({ log, metrics, tracing }, name, work)
      await sleep(seconds * 1000, undefined, { signal }).catch(() => {})
    }
  }
  const reaping = repeat('leases', config.CP_WORKER_POLL_SECONDS, async () => {
    return { ...(await reapExpired(db, REAP_BATCH, notify)) }
  })
  const reapingCalls = repeat('skill-invocations', config.CP_WORKER_POLL_SECONDS, async () => {
    return { invocations: await reapInvocations(db, REAP_BATCH, notify) }
  })
  const cleaning = repeat('idempotency-records', config.CP_WORKER_POLL_SECONDS, async () => ({
    removed: await deleteExpiredRecords(db, CLEAN_UP_BATCH),
  }))
  const interval = config.CP_JOURNAL_RETENTION_INTERVAL_SECONDS
  const retention = {
    minAgeSeconds: config.CP_JOURNAL_RETENTION_MIN_AGE_SECONDS,
    pruneAfterSeconds: config.CP_JOURNAL_PRUNE_AFTER_SECONDS,
    withoutConsumer: config.CP_CONTEXT_PROVIDER === 'none',
  }
  const retaining =
    interval === undefined
      ? undefined
      : repeat('retention', interval, () => retainJournals(db, retention, notify))
  const collecting = repeat('content', config.CP_WORKER_POLL_SECONDS, async () => ({
    uploads: await expireUploads(db, CLEAN_UP_BATCH),
    objects: await collectBlobs(db, store, CLEAN_UP_BATCH),
  }))
  const webhooks = webhookService(shared, db, notify)
  await Promise.all([reaping, reapingCalls, cleaning, retaining, collecting, webhooks])
}
