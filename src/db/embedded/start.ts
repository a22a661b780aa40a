import { access, chmod, chown, constants, mkdir, realpath, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { reason, StartError } from '#lib/start-error.ts'
import { connect } from '#db/sql.ts'
import type { DatabaseAddress } from '#db/sql.ts'
import { findHome } from './account.ts'
import type { Home } from './account.ts'
import { openCluster, SUPERUSER } from './cluster.ts'
import type { Cluster } from './cluster.ts'
import { lockFolder, MAX_SOCKET_PATH_BYTES } from './lock.ts'
import { awaitOldServer } from './old-server.ts'
import { findBinaries } from './package.ts'
import {
  createDatabase,
  createRoles,
  DATABASES,
  grantRights,
  ROLE_NAMES,
  rolePassword,
} from './roles.ts'
import type { Role } from './roles.ts'
import { startServer } from './server.ts'
import { serverArguments, SOCKET_PORT } from './settings.ts'
import type { Listen } from './settings.ts'

export interface EmbeddedOptions {
  /** Holds the database in its folder `pg`, and our lock. Made when missing. */
  dataFolder: string
  /** Told in a few words what takes time. */
  progress?: (message: string) => void
  /** False only for databases that are thrown away: a crash of the machine loses them. Default true. */
  fsync?: boolean
  /** How many connections the server takes; default 100. */
  maxConnections?: number
  /** The command that makes a user namespace; default `unshare`. */
  unshare?: string
  /** Where the database goes when its account cannot enter the data folder; default `/var/lib/strata`. */
  elsewhere?: string
}

/** A running PostgreSQL of our own. `await using` stops it. */
export interface Embedded extends AsyncDisposable {
  /** `superuser` is for setting up and for tests. */
  address: (database: string, role: Role | 'superuser') => DatabaseAddress
  /** Resolves when the server process has ended, also when nobody asked it to. */
  ended: Promise<void>
  /** Shuts the server down and gives the data folder free. May be called twice. */
  stop: () => Promise<void>
}

/**
 * Starts the embedded PostgreSQL on the data folder: makes it on first use, waits for what an earlier
 * process left to finish, and makes the roles and the databases `control_plane` and `memory`. Measured on
 * two cores: 1 s on first use, 0.2 s afterwards.
 *
 * Throws a StartError when the folder cannot be used or another live process uses it, when this machine has
 * no such package, or when the server does not start.
 */
export async function startEmbedded(options: EmbeddedOptions): Promise<Embedded> {
  const progress = options.progress ?? (() => {})
  const fsync = options.fsync ?? true
  const dataFolder = await openDataFolder(options.dataFolder)
  const lock = await lockFolder(dataFolder)
  try {
    const binaries = await findBinaries()
    const { unshare, elsewhere, maxConnections } = options
    const home = await findHome({
      dataFolder,
      binaries,
      progress,
      ...(unshare !== undefined && { unshare }),
      ...(elsewhere !== undefined && { elsewhere }),
    })
    const cluster = await openCluster(home, { fsync, progress })
    await awaitOldServer(cluster.data, progress)
    const listen = await chooseListen(home)
    const server = await startServer(
      home,
      serverArguments(cluster.data, listen, { fsync, maxConnections }),
      progress,
    )
    const stop = async () => {
      await server.stop()
      await lock.release()
    }
    const address = addressing(listen, cluster)
    try {
      await prepare(address, cluster)
    } catch (error) {
      await server.stop()
      throw error
    }
    return { address, ended: server.ended, stop, [Symbol.asyncDispose]: stop }
  } catch (error) {
    await lock.release()
    throw error
  }
}

async function openDataFolder(path: string): Promise<string> {
  const folder = resolve(path)
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    // One folder has one name, also when it is reached by a link the next time.
    return await realpath(folder)
  } catch (cause) {
    throw new StartError(`Cannot write to the data folder "${folder}": ${reason(cause)}`, { cause })
  }
}

async function chooseListen(home: Home): Promise<Listen> {
  const socketFolder = join(home.folder, 'run')
  const path = join(socketFolder, `.s.PGSQL.${SOCKET_PORT}`)
  if (process.platform === 'win32' || Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
    return { port: await freePort() }
  }
  // What a killed server left there would keep the next one from starting.
  await rm(socketFolder, { recursive: true, force: true })
  await mkdir(socketFolder, { recursive: true, mode: 0o700 })
  await chmod(socketFolder, 0o700)
  const { ids } = home.account
  if (ids) await chown(socketFolder, ids.uid, ids.gid)
  return { socketFolder }
}

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer()
    probe.once('error', fail)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() => done(typeof address === 'object' && address !== null ? address.port : 0))
    })
  })
}

function addressing(listen: Listen, cluster: Cluster): Embedded['address'] {
  return (database, role) => {
    const user = role === 'superuser' ? SUPERUSER : ROLE_NAMES[role]
    const password = role === 'superuser' ? cluster.password : rolePassword(cluster.password, role)
    if ('socketFolder' in listen) {
      return { socket: listen.socketFolder, port: SOCKET_PORT, user, password, database }
    }
    return { url: `postgres://${user}:${password}@127.0.0.1:${listen.port}/${database}` }
  }
}

async function prepare(address: Embedded['address'], cluster: Cluster): Promise<void> {
  const options = { maxConnections: 1, appName: 'strata-setup' }
  const server = connect(address('postgres', 'superuser'), options)
  try {
    await createRoles(server, cluster.password)
    for (const name of DATABASES) await createDatabase(server, name)
  } finally {
    await server.end()
  }
  for (const name of DATABASES) {
    const database = connect(address(name, 'superuser'), options)
    try {
      await grantRights(database, name)
    } finally {
      await database.end()
    }
  }
}
