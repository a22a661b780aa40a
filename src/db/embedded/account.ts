import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rm,
  symlink,
} from 'node:fs/promises'
import { join } from 'node:path'
import { StartError } from '#lib/start-error.ts'
import { copyBinaries, linkLibraries } from './package.ts'
import type { Binaries } from './package.ts'
import { runProgram } from './program.ts'
import type { Account, Outcome } from './program.ts'

/** Where the cluster lives, and what runs it as whom. */
export interface Home {
  /** Holds `data`, the socket folder, the password and the server's log. */
  folder: string
  account: Account
  binaries: Binaries
}

export interface HomeInput {
  dataFolder: string
  binaries: Binaries
  progress: (message: string) => void
  /** The command that makes a user namespace; tests name one that does not exist. */
  unshare?: string
  /** Where a database goes whose own folder the account cannot enter. */
  elsewhere?: string
}

const NOBODY = 65_534

/**
 * Decides by trying who can run the server on `<dataFolder>/pg`. As an ordinary user: we. As root: the
 * owner of a database that is there already, root itself inside a user namespace, or else `nobody`, which
 * then owns the folder. Throws a StartError when nobody can.
 */
export async function findHome(input: HomeInput): Promise<Home> {
  const folder = await openFolder(join(input.dataFolder, 'pg'))
  const self: Account = { prefix: [] }
  const root = process.getuid?.() === 0
  const owner = root ? (await lstat(folder)).uid : 0
  if (!root) return chosen(input, folder, self)
  if (owner !== 0) return asAccount(input, folder, owner)

  const namespace: Account = {
    prefix: [
      input.unshare ?? 'unshare',
      '-U',
      `--map-user=${NOBODY}`,
      `--map-group=${NOBODY}`,
      '--',
    ],
  }
  const binaries = await linkLibraries(input.binaries, folder)
  if (await canServe(namespace, binaries, folder)) {
    return { folder, account: namespace, binaries }
  }
  return asAccount(input, folder, await nobody())
}

async function chosen(input: HomeInput, folder: string, account: Account): Promise<Home> {
  const binaries = await linkLibraries(input.binaries, folder)
  const tried = await tryServer(account, binaries)
  if (tried.code === 0) return { folder, account, binaries }
  throw new StartError(`Cannot run the embedded PostgreSQL: ${tried.output}`)
}

/** Gives the folder to the account, and moves what it cannot reach to where it can. */
async function asAccount(input: HomeInput, wanted: string, uid: number): Promise<Home> {
  const account: Account = { prefix: [], ids: { uid, gid: await groupOf(uid) } }
  await chmod(input.dataFolder, (await lstat(input.dataFolder)).mode | 0o111)
  let folder = wanted
  await giveTo(account, folder)
  if (!(await canWrite(account, folder))) {
    if ((await readdir(folder)).some((name) => name === 'data')) {
      throw new StartError(
        `Cannot run the embedded PostgreSQL: it may not run as root, and account ${uid} cannot enter "${folder}"; ` +
          'set STRATA_DATA to a folder that every account can enter',
      )
    }
    folder = await moveElsewhere(input, wanted)
    await giveTo(account, folder)
  }
  let binaries = await linkLibraries(input.binaries, folder)
  if ((await tryServer(account, binaries)).code !== 0) {
    input.progress('Copying the programs of PostgreSQL to where their account can read them')
    binaries = await copyBinaries(input.binaries, folder)
  }
  const tried = await tryServer(account, binaries)
  if (tried.code === 0 && (await canWrite(account, folder))) return { folder, account, binaries }
  throw new StartError(
    `Cannot run the embedded PostgreSQL as account ${uid}: ${tried.output}; ` +
      'start as an ordinary user, or set CP_DATABASE_URL and CB_DATABASE_URL',
  )
}

/** A link keeps the database findable from the data folder, and a removed data folder starts afresh. */
async function moveElsewhere(input: HomeInput, wanted: string): Promise<string> {
  const folder = join(input.elsewhere ?? '/var/lib/strata', randomUUID())
  await mkdir(folder, { recursive: true, mode: 0o755 })
  await rm(wanted, { recursive: true })
  await symlink(folder, wanted)
  input.progress(
    `The database is kept in ${folder}, because its account cannot enter ${input.dataFolder}`,
  )
  return folder
}

async function openFolder(path: string): Promise<string> {
  const present = await lstat(path).catch(() => undefined)
  if (present?.isSymbolicLink() === true && !existsSync(path)) {
    throw new StartError(
      `Cannot find the database: "${path}" leads to a folder that is gone; restore that folder, or remove the link to start with an empty database`,
    )
  }
  await mkdir(path, { recursive: true, mode: 0o700 })
  return realpath(path)
}

async function canServe(account: Account, binaries: Binaries, folder: string): Promise<boolean> {
  return (await tryServer(account, binaries)).code === 0 && (await canWrite(account, folder))
}

function tryServer(account: Account, binaries: Binaries): Promise<Outcome> {
  return runProgram(account, join(binaries.folder, 'bin/postgres'), ['--version'])
}

/** Also false for a folder whose existing data belongs to somebody else. */
async function canWrite(account: Account, folder: string): Promise<boolean> {
  const script =
    'set -e; : > "$1/.try"; rm "$1/.try"; ! test -e "$1/data" || { test -O "$1/data"; test -w "$1/data"; }'
  return (await runProgram(account, '/bin/sh', ['-c', script, 'sh', folder])).code === 0
}

async function giveTo(account: Account, folder: string): Promise<void> {
  if (!account.ids) return
  const { uid, gid } = account.ids
  if ((await lstat(folder)).uid !== uid) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      await lchown(join(entry.parentPath, entry.name), uid, gid)
    }
  }
  await chown(folder, uid, gid)
}

async function lchown(path: string, uid: number, gid: number): Promise<void> {
  const found = await lstat(path)
  if (!found.isSymbolicLink()) await chown(path, uid, gid)
}

async function nobody(): Promise<number> {
  const line = (await passwd()).find((fields) => fields[0] === 'nobody')
  return Number(line?.[2] ?? NOBODY)
}

async function groupOf(uid: number): Promise<number> {
  const line = (await passwd()).find((fields) => fields[2] === String(uid))
  return Number(line?.[3] ?? uid)
}

async function passwd(): Promise<string[][]> {
  const text = await readFile('/etc/passwd', 'utf8').catch(() => '')
  return text.split('\n').map((line) => line.split(':'))
}
