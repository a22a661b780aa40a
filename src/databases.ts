import { join } from 'node:path'
import type { Config } from './config.ts'
import { checkServer } from '#db/check-server.ts'
import { startEmbedded } from '#db/embedded/start.ts'
import type { Embedded } from '#db/embedded/start.ts'
import { checkMigrated, migrate, readMigrations } from '#db/migrate.ts'
import type { MigrationFile } from '#db/migrate.ts'
import type { PoolObserver } from '#db/pool.ts'
import { connect } from '#db/sql.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import type { Log } from '#lib/log.ts'
import { StartError } from '#lib/start-error.ts'

export type DatabaseName = 'control_plane' | 'memory'

const FILES = {
  control_plane: { folder: 'control-plane', variable: 'CP_DATABASE_URL' },
  memory: { folder: 'memory', variable: 'CB_DATABASE_URL' },
} as const satisfies Record<DatabaseName, { folder: string; variable: keyof Config }>

const MIGRATIONS = join(import.meta.dirname, '../migrations')

/** The databases of one process; `await using` closes the pools, then our own server if there is one. */
export interface Databases extends AsyncDisposable {
  /** Where a further connection of a long life is opened. */
  addressOf: (name: DatabaseName) => DatabaseAddress
  open: (name: DatabaseName, appName: string) => Database
  /** Rejects when a server of our own ends by itself. */
  lost: Promise<never>
}

/** Who is told how the pool of a database is used. */
export type ObserverOf = (name: DatabaseName) => PoolObserver

/** Databases that the operator runs; each that is named must have its URL. */
export function externalDatabases(
  config: Config,
  names: readonly DatabaseName[],
  observerOf?: ObserverOf,
): Databases {
  const addresses = new Map(names.map((name) => [name, { url: urlOf(config, name) }]))
  const addressOf = (name: DatabaseName) => addresses.get(name) ?? { url: urlOf(config, name) }
  return databases(config, addressOf, { observerOf })
}

function urlOf(config: Config, name: DatabaseName): string {
  const { variable } = FILES[name]
  const url = config[variable]
  if (url !== undefined) return url
  throw new StartError(
    `Cannot start: ${variable} is not set (only role all starts a database of its own)`,
  )
}

/** The databases that have a URL; throws `StartError` when none has. */
export function namedDatabases(config: Config): DatabaseName[] {
  const names = (Object.keys(FILES) as DatabaseName[]).filter(
    (name) => config[FILES[name].variable] !== undefined,
  )
  if (names.length > 0) return names
  throw new StartError('Cannot start: neither CP_DATABASE_URL nor CB_DATABASE_URL is set')
}

export interface LocalOptions {
  log: Log
  /** Tells the person who started us what takes its time. */
  progress: (message: string) => void
  observerOf?: ObserverOf
}

/**
 * Databases for one machine: those without a URL live on an embedded server in the data folder, which
 * is started here. Brings both to the current schema.
 */
export async function localDatabases(
  config: Config,
  { log, progress, observerOf }: LocalOptions,
): Promise<Databases> {
  const names = Object.keys(FILES) as DatabaseName[]
  const needsOwn = names.some((name) => config[FILES[name].variable] === undefined)
  const embedded = needsOwn
    ? await startEmbedded({ dataFolder: config.STRATA_DATA, progress })
    : undefined
  const addressFor = (role: 'owner' | 'app') => (name: DatabaseName) => {
    const url = config[FILES[name].variable]
    return url === undefined && embedded ? embedded.address(name, role) : { url: url ?? '' }
  }
  try {
    for (const name of names) await migrateAt(addressFor('owner')(name), name, log)
    return databases(config, addressFor('app'), { embedded, observerOf })
  } catch (error) {
    await embedded?.stop()
    throw error
  }
}

/** Brings one database to the current schema; safe from many processes at once. */
export async function migrateAt(
  address: DatabaseAddress,
  name: DatabaseName,
  log: Log,
): Promise<void> {
  const db = connect(address, { maxConnections: 2, appName: 'strata-migrate' })
  try {
    await checkServer(db, FILES[name].variable)
    const applied = await migrate(db, join(MIGRATIONS, FILES[name].folder))
    if (applied.length > 0) log.info('Migrated', { database: name, applied })
  } finally {
    await db.end({ timeout: 5 })
  }
}

/** The migrations of this build for one database. */
export async function migrationsOf(name: DatabaseName): Promise<MigrationFile[]> {
  return await readMigrations(join(MIGRATIONS, FILES[name].folder))
}

/** Refuses to serve on a schema that is not this build's. */
export async function checkSchema(db: Database, name: DatabaseName): Promise<void> {
  await checkServer(db, FILES[name].variable)
  await checkMigrated(db, join(MIGRATIONS, FILES[name].folder))
}

function databases(
  config: Config,
  addressOf: (name: DatabaseName) => DatabaseAddress,
  { embedded, observerOf }: { embedded?: Embedded | undefined; observerOf: ObserverOf | undefined },
): Databases {
  const pools: Database[] = []
  let isStopping = false
  const lost = new Promise<never>((_, reject) => {
    void embedded?.ended.then(() => {
      if (!isStopping) reject(new StartError('The embedded database has ended; see its log'))
    })
  })
  lost.catch(() => {})
  return {
    addressOf,
    lost,
    open(name, appName) {
      const maxConnections = name === 'memory' ? config.CB_DATABASE_POOL : config.CP_DATABASE_POOL
      const observer = observerOf?.(name)
      const db = connect(addressOf(name), { maxConnections, appName, observer })
      pools.push(db)
      return db
    },
    async [Symbol.asyncDispose]() {
      isStopping = true
      await Promise.all(pools.map((db) => db.end({ timeout: 5 })))
      await embedded?.stop()
    },
  }
}
