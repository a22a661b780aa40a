import { once } from 'node:events'
import { join } from 'node:path'
import type { MemoryOptions } from '#client/memory.ts'
import type { Database } from '#db/sql.ts'
import { NO_TRACING } from '#lib/tracing.ts'
import { StartError } from '#lib/start-error.ts'
import { guardJournal } from '#events/journal-guard.ts'
import { registerShippedPacks } from '#memory/packs/register-pack.ts'
import type { Probes } from '#observe/probes.ts'
import {
  checkSchema,
  externalDatabases,
  localDatabases,
  migrateAt,
  namedDatabases,
} from './databases.ts'
import { productVersion } from '#lib/version.ts'
import { createPolicyApp } from '#policy/app.ts'
import type { PolicyAnswer } from '#policy/app.ts'
import type { DatabaseName, Databases } from './databases.ts'
import { aroundMemory, createAnnouncer } from './meters.ts'
import { createProbes, poolObservers } from './probing.ts'
import { openContentStore } from './content-store.ts'
import { contextTokens } from './identity.ts'
import { firstStart, secretFile } from './first-start.ts'
import { listen } from './listen.ts'
import { memoryService } from './memory-service.ts'
import { embeddingService } from './memory-models.ts'
import { openMetrics } from './open-metrics.ts'
import { adapterService, apiService, createHeads, memoryOf, workerService } from './services.ts'
import type { Shared } from './services.ts'

export const ROLES = [
  'all',
  'api',
  'adapter',
  'worker',
  'memory',
  'mcp',
  'policy',
  'migrate',
] as const
export type Role = (typeof ROLES)[number]

export interface Start extends Omit<Shared, 'databases'> {
  role: Role
  /** Tells the person who started us, apart from the log. */
  say: (message: string) => void
}

type Given = Omit<Start, 'role' | 'tracing'> & Partial<Pick<Start, 'tracing'>>

/** Runs one role of the program until the signal aborts; everything it opened is closed by then. */
export async function runRole(role: Role, given: Given): Promise<void> {
  const run = { all, api, adapter, worker, memory, mcp, policy, migrate } satisfies Record<
    Role,
    unknown
  >
  const failed = new AbortController()
  const start = { tracing: NO_TRACING, ...given, role, log: given.log.with({ role }) }
  try {
    const signal = AbortSignal.any([start.signal, failed.signal])
    await run[role]({ ...start, signal })
    start.log.info('Stopped')
  } finally {
    failed.abort()
  }
}

async function all(start: Start): Promise<void> {
  const { config, log, say } = start
  await using databases = await localDatabases(config, {
    log,
    progress: say,
    observerOf: poolObservers(start),
  })
  const shared = { ...start, databases }
  const db = databases.open('control_plane', 'strata')
  await openJournal(shared, db)
  const memoryDb = databases.open('memory', 'strata-memory')
  const memoryKey =
    config.CB_SERVER_API_KEY ?? (await secretFile(join(config.STRATA_DATA, 'memory.key')))
  await registerShippedPacks(memoryDb)
  const cacheFolder = config.CB_CACHE_DIR ?? join(config.STRATA_DATA, 'cache')
  const ofMemory = { ...shared, config: { ...config, CB_CACHE_DIR: cacheFolder } }
  const memoryApp = memoryService(ofMemory, memoryDb, memoryKey)
  const tokens = contextTokens(config, true)
  const own: MemoryOptions = {
    ...(tokens && { tokens }),
    url: 'http://memory.internal',
    apiKey: config.CP_CONTEXT_API_KEY ?? memoryKey,
    fetch: async (input, init) => await memoryApp.fetch(new Request(input, init)),
    around: aroundMemory(shared),
  }
  const usesOwn = config.CP_CONTEXT_PROVIDER !== 'none' && !config.CP_CONTEXT_BASE_URL
  const target = usesOwn ? own : memoryOf(shared, memoryKey)
  await using heads = createHeads(shared, db)
  await using announcer = createAnnouncer(shared, db)
  const { notify } = announcer
  const store = openContentStore(config, start.metrics)
  const probes = createProbes({
    ...shared,
    controlPlane: db,
    memoryDatabase: memoryDb,
    memory: target ?? null,
    store,
  })
  const app = apiService(shared, db, { memory: target, notify, heads, probes, store })
  const adminKey =
    config.CP_BOOTSTRAP_TOKEN === undefined ? await firstStart(db, config.STRATA_DATA) : undefined

  await using memoryServer = await listen(memoryApp, memoryAddress(shared))
  await using server = await listen(app, apiAddress(shared))
  await untilStopped(shared, {
    greeting: greetingOf(shared, { url: server.url, memoryUrl: memoryServer.url, adminKey }),
    probes,
    services: [
      () => adapterService(shared, db, target),
      () => workerService(shared, db, { notify, store }),
      () => embeddingService(shared, memoryDb),
    ],
  })
  say('Stopping')
}

function greetingOf(
  { config }: Shared,
  at: { url: string; memoryUrl: string; adminKey: string | undefined },
): string {
  const path = join(config.STRATA_DATA, 'admin.key')
  const isFirst = at.adminKey !== undefined
  return [
    `Strata is ready at ${at.url} (API page: ${at.url}/docs), memory at ${at.memoryUrl}`,
    `Health: ${at.url}/health/ready, metrics: ${at.url}/metrics, data: ${config.STRATA_DATA}`,
    ...(isFirst ? [`Admin key, shown once and kept in ${path}: ${at.adminKey}`] : []),
    'Ctrl-C stops it',
  ].join('\n')
}

interface Work {
  /** What the person who started us is told once everything is ready. */
  greeting: string
  probes: Probes
  services?: readonly (() => Promise<void>)[]
}

/** Ends when the signal aborts, or fails with the first service or server that fails. */
async function untilStopped(
  shared: Start & Shared,
  { greeting, probes, services = [] }: Work,
): Promise<void> {
  const { databases, log, say, signal } = shared
  await using _ = await openMetrics(shared, probes)
  say(greeting)
  log.info('Started', { version: productVersion(), node: process.version, pid: process.pid })
  const running = services.map((start) => start())
  const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort')
  await Promise.race([stopped, databases.lost, ...running])
  log.info('Stopping')
  await Promise.all(running)
}

async function openJournal({ log }: Pick<Shared, 'log'>, db: Database): Promise<void> {
  const { journalEpoch, epochBumped } = await guardJournal(db)
  if (epochBumped) log.warn('A restored journal was found: a new epoch begins', { journalEpoch })
}

/** The database of a role that runs beside others, its pool measured. */
function external(start: Start, name: DatabaseName): Databases {
  return externalDatabases(start.config, [name], poolObservers(start))
}

/** The control plane's database for a role that runs beside others; its journal is ready to write. */
async function openControlPlane(shared: Shared, appName: string): Promise<Database> {
  const db = shared.databases.open('control_plane', appName)
  await checkSchema(db, 'control_plane')
  await openJournal(shared, db)
  return db
}

async function api(start: Start): Promise<void> {
  await using databases = external(start, 'control_plane')
  const shared = { ...start, databases }
  const db = await openControlPlane(shared, 'strata-api')
  await using heads = createHeads(shared, db)
  const target = memoryOf(shared)
  await using announcer = createAnnouncer(shared, db)
  const store = openContentStore(start.config, start.metrics)
  const probes = createProbes({ ...shared, controlPlane: db, memory: target ?? null, store })
  const { notify } = announcer
  const app = apiService(shared, db, { memory: target, notify, heads, probes, store })
  await using server = await listen(app, apiAddress(shared))
  await untilStopped(shared, { greeting: `Control plane is ready at ${server.url}`, probes })
}

async function adapter(start: Start): Promise<void> {
  await using databases = external(start, 'control_plane')
  const shared = { ...start, databases }
  const db = await openControlPlane(shared, 'strata-adapter')
  const target = memoryOf(shared)
  const probes = createProbes({ ...shared, controlPlane: db, memory: target ?? null })
  await untilStopped(shared, {
    greeting: 'Context adapter is ready',
    probes,
    services: [() => adapterService(shared, db, target)],
  })
}

async function worker(start: Start): Promise<void> {
  await using databases = external(start, 'control_plane')
  const shared = { ...start, databases }
  const db = await openControlPlane(shared, 'strata-worker')
  await using announcer = createAnnouncer(shared, db)
  const store = openContentStore(start.config, start.metrics)
  const probes = createProbes({ ...shared, controlPlane: db, store })
  const { notify } = announcer
  await untilStopped(shared, {
    greeting: 'Worker is ready',
    probes,
    services: [() => workerService(shared, db, { notify, store })],
  })
}

async function memory(start: Start): Promise<void> {
  await using databases = external(start, 'memory')
  const db = databases.open('memory', 'strata-memory')
  await checkSchema(db, 'memory')
  const shared = { ...start, databases }
  await registerShippedPacks(db)
  const app = memoryService(shared, db, start.config.CB_SERVER_API_KEY)
  await using server = await listen(app, memoryAddress(shared))
  const probes = createProbes({ ...shared, memoryDatabase: db })
  await untilStopped(shared, {
    greeting: `Memory is ready at ${server.url}`,
    probes,
    services: [() => embeddingService(shared, db)],
  })
}

/** Offers the tools of memory to models over HTTP, without a database. */
async function mcp({ config, log, say, signal }: Start): Promise<void> {
  // The SDK is much code that no other role needs.
  const { mcpApp } = await import('./mcp-service.ts')
  const { CB_MCP_HOST: host, CB_MCP_PORT: port } = config
  const where = { host, port, setting: 'CB_MCP_HOST, CB_MCP_PORT' }
  await using server = await listen(mcpApp(config, log), where)
  say(`Tools of memory are ready at ${server.url}/mcp`)
  if (!signal.aborted) await once(signal, 'abort')
}

/** Decides by the policies of a folder, without a database. */
async function policy(start: Start): Promise<void> {
  const { config, log, metrics, say, signal } = start
  const { CP_POLICY_FOLDER: folder, CP_POLICY_API_KEY: apiKey } = config
  if (folder === undefined) throw new StartError('Cannot start: CP_POLICY_FOLDER is not set')
  // Cedar is four megabytes of WebAssembly that no other role needs.
  const { readPolicies } = await import('#policy/cedar.ts')
  const counted = (answer: PolicyAnswer) => metrics.policyAnswers.inc({ answer })
  const app = createPolicyApp({ policies: await readPolicies(folder), apiKey, log, counted })
  const { CP_POLICY_HOST: host, CP_POLICY_PORT: port } = config
  await using server = await listen(app, { host, port, setting: 'CP_POLICY_HOST, CP_POLICY_PORT' })
  await using _ = await openMetrics(start, createProbes(start))
  say(`Decision point is ready at ${server.url}`)
  if (!signal.aborted) await once(signal, 'abort')
}

/** Migrates what is named: memory can be used without a control plane, and the other way round. */
async function migrate({ config, log, say }: Start): Promise<void> {
  const named = namedDatabases(config)
  await using databases = externalDatabases(config, named)
  for (const name of named) await migrateAt(databases.addressOf(name), name, log)
  say(`Up to date: ${named.map((name) => `the database of ${TITLES[name]}`).join(', ')}`)
}

const TITLES = { control_plane: 'the control plane', memory: 'memory' } as const

function apiAddress({ config }: Shared) {
  return { host: config.CP_HOST, port: config.CP_PORT, setting: 'CP_HOST, CP_PORT' }
}

function memoryAddress({ config }: Shared) {
  const { CB_SERVER_HOST: host, CB_SERVER_PORT: port } = config
  return { host, port, setting: 'CB_SERVER_HOST, CB_SERVER_PORT' }
}
