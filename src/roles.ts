import { once } from 'node:events'
import { join } from 'node:path'
import type { MemoryOptions } from '#client/memory.ts'
import type { Database } from '#db/sql.ts'
import { StartError } from '#lib/start-error.ts'
import { guardJournal } from '#events/journal-guard.ts'
import { createNotifier } from '#events/notify.ts'
import {
  checkSchema,
  externalDatabases,
  localDatabases,
  migrateAt,
  namedDatabases,
} from './databases.ts'
import { productVersion } from '#lib/version.ts'
import { createPolicyApp } from '#policy/app.ts'
import { firstStart, secretFile } from './first-start.ts'
import { listen } from './listen.ts'
import {
  adapterService,
  apiService,
  createHeads,
  memoryOf,
  memoryService,
  workerService,
} from './services.ts'
import type { Shared } from './services.ts'

export const ROLES = ['all', 'api', 'adapter', 'worker', 'memory', 'policy', 'migrate'] as const
export type Role = (typeof ROLES)[number]

export interface Start extends Omit<Shared, 'databases'> {
  /** Tells the person who started us, apart from the log. */
  say: (message: string) => void
}

/** Runs one role of the program until the signal aborts; everything it opened is closed by then. */
export async function runRole(role: Role, start: Start): Promise<void> {
  const run = { all, api, adapter, worker, memory, policy, migrate } satisfies Record<Role, unknown>
  const failed = new AbortController()
  const log = start.log.with({ role })
  try {
    await run[role]({ ...start, log, signal: AbortSignal.any([start.signal, failed.signal]) })
    log.info('Stopped')
  } finally {
    failed.abort()
  }
}

async function all(start: Start): Promise<void> {
  const { config, log, say, signal } = start
  await using databases = await localDatabases(config, log, say)
  const shared = { ...start, databases }
  const db = databases.open('control_plane', 'strata')
  await openJournal(shared, db)
  const memoryDb = databases.open('memory', 'strata-memory')
  const memoryKey =
    config.CB_SERVER_API_KEY ?? (await secretFile(join(config.STRATA_DATA, 'memory.key')))
  const memoryApp = memoryService(shared, memoryDb, memoryKey)
  const own: MemoryOptions = {
    url: 'http://memory.internal',
    apiKey: config.CP_CONTEXT_API_KEY ?? memoryKey,
    fetch: async (input, init) => await memoryApp.fetch(new Request(input, init)),
  }
  const usesOwn = config.CP_CONTEXT_PROVIDER !== 'none' && !config.CP_CONTEXT_BASE_URL
  const target = usesOwn ? own : memoryOf(config, memoryKey)
  await using notifier = createNotifier(db, (error) => log.error('Wake-up not sent', error))
  await using heads = createHeads(shared, db)
  const app = apiService(shared, db, { memory: target, notifier, heads })
  const adminKey =
    config.CP_BOOTSTRAP_TOKEN === undefined ? await firstStart(db, config.STRATA_DATA) : undefined

  await using memoryServer = await listen(memoryApp, memoryAddress(shared))
  await using server = await listen(app, apiAddress(shared))
  greet(shared, { url: server.url, memoryUrl: memoryServer.url, adminKey }, say)
  await untilStopped(shared, signal, [
    adapterService(shared, db, target),
    workerService(shared, db, notifier),
  ])
  say('Stopping')
}

function greet(
  { config }: Shared,
  at: { url: string; memoryUrl: string; adminKey: string | undefined },
  say: (message: string) => void,
): void {
  say(`Strata is ready at ${at.url} (API page: ${at.url}/docs), memory at ${at.memoryUrl}`)
  const path = join(config.STRATA_DATA, 'admin.key')
  if (at.adminKey !== undefined) {
    say(`Admin key, shown once and kept in ${path}: ${at.adminKey}`)
  }
}

/** Ends when the signal aborts, or fails with the first service or server that fails. */
async function untilStopped(
  { databases, log }: Shared,
  signal: AbortSignal,
  services: readonly Promise<void>[],
): Promise<void> {
  log.info('Started', { version: productVersion(), node: process.version, pid: process.pid })
  const stopped = signal.aborted ? Promise.resolve() : once(signal, 'abort')
  await Promise.race([stopped, databases.lost, ...services])
  log.info('Stopping')
  await Promise.all(services)
}

async function openJournal({ log }: Pick<Shared, 'log'>, db: Database): Promise<void> {
  const { journalEpoch, epochBumped } = await guardJournal(db)
  if (epochBumped) log.warn('A restored journal was found: a new epoch begins', { journalEpoch })
}

/** The control plane's database for a role that runs beside others; its journal is ready to write. */
async function openControlPlane(shared: Shared, appName: string): Promise<Database> {
  const db = shared.databases.open('control_plane', appName)
  await checkSchema(db, 'control_plane')
  await openJournal(shared, db)
  return db
}

async function api(start: Start): Promise<void> {
  await using databases = externalDatabases(start.config, ['control_plane'])
  const shared = { ...start, databases }
  const db = await openControlPlane(shared, 'strata-api')
  await using notifier = createNotifier(db, (error) => start.log.error('Wake-up not sent', error))
  await using heads = createHeads(shared, db)
  const app = apiService(shared, db, { memory: memoryOf(start.config), notifier, heads })
  await using server = await listen(app, apiAddress(shared))
  start.say(`Control plane is ready at ${server.url}`)
  await untilStopped(shared, start.signal, [])
}

async function adapter(start: Start): Promise<void> {
  await using databases = externalDatabases(start.config, ['control_plane'])
  const shared = { ...start, databases }
  const db = await openControlPlane(shared, 'strata-adapter')
  start.say('Context adapter is ready')
  await untilStopped(shared, start.signal, [adapterService(shared, db, memoryOf(start.config))])
}

async function worker(start: Start): Promise<void> {
  await using databases = externalDatabases(start.config, ['control_plane'])
  const shared = { ...start, databases }
  const db = await openControlPlane(shared, 'strata-worker')
  await using notifier = createNotifier(db, (error) => start.log.error('Wake-up not sent', error))
  start.say('Worker is ready')
  await untilStopped(shared, start.signal, [workerService(shared, db, notifier)])
}

async function memory(start: Start): Promise<void> {
  await using databases = externalDatabases(start.config, ['memory'])
  const db = databases.open('memory', 'strata-memory')
  await checkSchema(db, 'memory')
  const shared = { ...start, databases }
  const app = memoryService(shared, db, start.config.CB_SERVER_API_KEY)
  await using server = await listen(app, memoryAddress(shared))
  start.say(`Memory is ready at ${server.url}`)
  await untilStopped(shared, start.signal, [])
}

/** Decides by the policies of a folder, without a database. */
async function policy({ config, log, say, signal }: Start): Promise<void> {
  const { CP_POLICY_FOLDER: folder, CP_POLICY_API_KEY: apiKey } = config
  if (folder === undefined) throw new StartError('Cannot start: CP_POLICY_FOLDER is not set')
  // Cedar is four megabytes of WebAssembly that no other role needs.
  const { readPolicies } = await import('#policy/cedar.ts')
  const app = createPolicyApp({ policies: await readPolicies(folder), apiKey, log })
  const { CP_POLICY_HOST: host, CP_POLICY_PORT: port } = config
  await using server = await listen(app, { host, port, setting: 'CP_POLICY_HOST, CP_POLICY_PORT' })
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
