import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { chown, open, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '#lib/start-error.ts'
import type { Home } from './account.ts'
import { runProgram } from './program.ts'

export const SUPERUSER = 'postgres'

export interface Cluster {
  data: string
  /** Of the superuser. It never leaves this machine: only our own socket or loopback reaches the server. */
  password: string
}

/**
 * Opens the cluster of this folder, making it on first use. An interrupted first use leaves nothing that
 * counts. Throws a StartError when another major version of PostgreSQL made it.
 */
export async function openCluster(
  home: Home,
  options: { fsync: boolean; progress: (message: string) => void },
): Promise<Cluster> {
  const data = join(home.folder, 'data')
  const secret = join(home.folder, 'superuser.password')
  if (!existsSync(data)) {
    options.progress('Making the database (first start only)')
    await createCluster(home, secret, options.fsync)
  }
  await checkMajorVersion(home, data)
  const password = await readFile(secret, 'utf8').catch((cause: unknown) => {
    throw new StartError(`Cannot open the database: its password file "${secret}" is missing`, {
      cause,
    })
  })
  return { data, password: password.trim() }
}

async function createCluster(home: Home, secret: string, fsync: boolean): Promise<void> {
  const unfinished = join(home.folder, 'data.unfinished')
  await rm(unfinished, { recursive: true, force: true })
  await rm(secret, { force: true })
  await writeFile(secret, `${randomBytes(24).toString('base64url')}\n`, { mode: 0o600 })
  if (home.account.ids) await chown(secret, home.account.ids.uid, home.account.ids.gid)
  const made = await runProgram(
    home.account,
    join(home.binaries.folder, 'bin/initdb'),
    [
      `--pgdata=${unfinished}`,
      `--username=${SUPERUSER}`,
      `--pwfile=${secret}`,
      '--auth=scram-sha-256',
      '--encoding=UTF8',
      '--locale=C',
      '--locale-provider=builtin',
      '--builtin-locale=C.UTF-8',
      '--data-checksums',
      '--no-instructions',
      ...(fsync ? [] : ['--no-sync']),
    ],
    300_000,
  )
  if (made.code !== 0) {
    throw new StartError(`Cannot make the database in "${home.folder}": ${lastLine(made.output)}`)
  }
  await rename(unfinished, join(home.folder, 'data'))
  if (fsync) await syncFolder(home.folder)
}

/** Makes the new name of the cluster survive a loss of power. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  const handle = await open(folder, 'r')
  await handle.sync()
  await handle.close()
}

async function checkMajorVersion(home: Home, data: string): Promise<void> {
  const made = (await readFile(join(data, 'PG_VERSION'), 'utf8')).trim()
  const server = await runProgram(home.account, join(home.binaries.folder, 'bin/postgres'), [
    '--version',
  ])
  // The output is "postgres (PostgreSQL) 18.4".
  const major = /^postgres \(PostgreSQL\) (\d+)/.exec(server.output)?.[1]
  if (major === undefined) {
    throw new StartError(`Cannot run the embedded PostgreSQL: ${lastLine(server.output)}`)
  }
  if (made === major) return
  throw new StartError(
    `Cannot open the database in "${data}": PostgreSQL ${made} made it and this version brings PostgreSQL ${major}; ` +
      'start the version of Strata that made it, or choose another data folder',
  )
}

export function lastLine(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '')
  return lines.at(-1)?.trim() ?? 'no reason was given'
}
