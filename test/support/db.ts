import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { TestContext } from 'node:test'
import { grantRights, ROLE_NAMES } from '#db/embedded/roles.ts'
import { startEmbedded } from '#db/embedded/start.ts'
import type { Embedded } from '#db/embedded/start.ts'
import { migrate } from '#db/migrate.ts'
import { connect } from '#db/sql.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import { testAddress, testServer } from './server.ts'
import type { TestRole, TestServer } from './server.ts'

/** Something that ends: a test, or with `after` of node:test the file. */
export interface Ending {
  after: (cleanUp: () => Promise<void>) => void
}

export type DatabaseKind = 'control-plane' | 'memory'

const LOCK = 727_002

/**
 * The control plane's database that all test files of a run share, as the application sees it (no DDL).
 * Tests stay apart by each using a new tenant, which also tests that tenants are apart. Rows may be read
 * or counted only within one's own tenant.
 */
export function sharedDb(): Promise<Database> {
  return shared('control-plane')
}

/** The memory service's database that all test files of a run share; every test uses a new namespace. */
export function sharedMemoryDb(): Promise<Database> {
  return shared('memory')
}

/**
 * A migrated database of its own, for a test that reads or breaks whole tables. Opened as the owner of the
 * tables unless another role is asked for. Costs 0.1-0.2 s: use where a tenant of one's own is not enough.
 */
export async function ownDb(
  t: TestContext,
  kind: DatabaseKind,
  role: TestRole = 'owner',
): Promise<Database> {
  return (await ownDatabase(t, kind, role)).db
}

/** The same with its addresses, for a process or a connection of another one's making. */
export async function ownDatabase(
  t: Ending,
  kind: DatabaseKind,
  role: TestRole = 'owner',
): Promise<OwnDatabase> {
  const template = await ensureDatabase(testServer(), kind, 'template')
  return newDatabase(t, { template, role, maxConnections: POOL.maxConnections })
}

export interface OwnDatabase {
  db: Database
  address: (role: TestRole) => DatabaseAddress
}

/** A database of its own without a single table, opened as the one who may make some. */
export function emptyDb(t: TestContext, maxConnections = POOL.maxConnections): Promise<Database> {
  return emptyDatabase(t, maxConnections).then(({ db }) => db)
}

/** The same with its addresses. */
export function emptyDatabase(
  t: TestContext,
  maxConnections = POOL.maxConnections,
): Promise<OwnDatabase> {
  return newDatabase(t, { template: 'template0', role: 'owner', maxConnections })
}

async function newDatabase(
  t: Ending,
  options: { template: string; role: TestRole; maxConnections: number },
): Promise<OwnDatabase> {
  const { template, role, maxConnections } = options
  const server = testServer()
  const name = `${server.prefix}_${randomUUID().replaceAll('-', '')}`
  await asAdmin(server, 'postgres', async (admin) => {
    await createDatabase(admin, server, name, template)
  })
  if (!server.external) await asAdmin(server, name, (admin) => grantRights(admin, name))
  const db = connect(testAddress(server, name, role), { ...POOL, maxConnections })
  t.after(async () => {
    await db.end({ timeout: 5 })
    await asAdmin(server, 'postgres', async (admin) => {
      await admin`drop database if exists ${admin(name)} with (force)`
    })
  })
  return { db, address: (other) => testAddress(server, name, other) }
}

export interface OwnServer {
  embedded: Embedded
  dataFolder: string
  /** A pool on a migrated database of this server; closed at the end of the test. */
  open: (kind: DatabaseKind, role?: TestRole) => Promise<Database>
}

/**
 * A small embedded server of its own, for tests of journal timing (transaction ids belong to the server:
 * an open transaction anywhere on it holds back every reader) and of faults. Costs about 1.5 s.
 */
export async function ownServer(
  t: TestContext,
  options: { fsync: boolean } = { fsync: false },
): Promise<OwnServer> {
  const dataFolder = await mkdtemp(join(tmpdir(), 'strata-test-'))
  const embedded = await startEmbedded({ dataFolder, fsync: options.fsync })
  const pools: Database[] = []
  t.after(async () => {
    await Promise.all(pools.map((pool) => pool.end({ timeout: 1 })))
    await embedded.stop()
    await rm(dataFolder, { recursive: true, force: true })
  })
  const openRole = (kind: DatabaseKind, role: TestRole) =>
    connect(embedded.address(kind === 'memory' ? 'memory' : 'control_plane', role), POOL)
  const openMigrated = async (kind: DatabaseKind, role: TestRole = 'app') => {
    await migrateAs(openRole(kind, 'owner'), kind)
    const pool = openRole(kind, role)
    pools.push(pool)
    return pool
  }
  return { embedded, dataFolder, open: openMigrated }
}

/** The folder of a database's migrations. */
export function migrationsOf(kind: DatabaseKind): string {
  return join(import.meta.dirname, '../../migrations', kind)
}

const POOL = { maxConnections: 8, appName: 'strata-test' }

async function shared(kind: DatabaseKind): Promise<Database> {
  const server = testServer()
  const db = open(server, await ensureDatabase(server, kind, 'shared'), 'app')
  after(() => db.end({ timeout: 5 }))
  return db
}

/** Makes and migrates the database once per run; the first test file that needs it pays for it. */
function ensureDatabase(server: TestServer, kind: DatabaseKind, use: string): Promise<string> {
  const name = `${server.prefix}_${kind.replaceAll('-', '_')}_${use}`
  return asAdmin(server, 'postgres', async (admin) => {
    await admin`set lock_timeout = '60s'`
    await admin`set statement_timeout = '60s'`
    await admin`select pg_advisory_lock(${LOCK})`
    const [present] = await admin`
      select 1
      from pg_database
      where datname = ${name}`
    if (present) return name
    try {
      await createDatabase(admin, server, name, 'template0')
      if (!server.external) await asAdmin(server, name, (sql) => grantRights(sql, name))
      await migrateAs(open(server, name, 'owner'), kind)
    } catch (error) {
      await admin`drop database if exists ${admin(name)} with (force)`
      throw error
    }
    return name
  })
}

async function migrateAs(owner: Database, kind: DatabaseKind): Promise<void> {
  try {
    await migrate(owner, migrationsOf(kind))
  } finally {
    await owner.end({ timeout: 5 })
  }
}

async function createDatabase(
  admin: Database,
  server: TestServer,
  name: string,
  template: string,
): Promise<void> {
  await admin`
    create database ${admin(name)}
    template ${admin(template)}
    strategy file_copy`
  if (!server.external) {
    await admin`alter database ${admin(name)} owner to ${admin(ROLE_NAMES.owner)}`
  }
}

async function asAdmin<T>(
  server: TestServer,
  database: string,
  work: (admin: Database) => Promise<T>,
): Promise<T> {
  const admin = connect(testAddress(server, database, 'superuser'), {
    maxConnections: 1,
    appName: 'strata-test',
  })
  try {
    return await work(admin)
  } finally {
    await admin.end({ timeout: 5 })
  }
}

function open(server: TestServer, database: string, role: TestRole): Database {
  return connect(testAddress(server, database, role), POOL)
}
