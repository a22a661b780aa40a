import { mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { createHash, randomUUID } from 'node:crypto'
import { createServer, connect } from 'node:net'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { StartError, reason } from '#lib/start-error.ts'

/** The limit for the path of a Unix socket is 108 bytes on Linux and 104 on macOS, with the final zero. */
export const MAX_SOCKET_PATH_BYTES = 103

/** `/strata.lock.` and 15 digits are longer than the slash and the name of a socket. */
const LONGEST_NAME_BYTES = 28

/** The right of this process to use a data folder. It ends with the process, however that ends. */
export interface FolderLock {
  release: () => Promise<void>
}

/**
 * Takes the data folder for this process, or throws a StartError naming the process that has it. The lock
 * is a socket that we listen on: no answer means that the holder is gone, which no file can tell.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  if (process.platform === 'win32') return lockPipe(folder)
  const place = await shortPath(folder)
  try {
    const socket = `strata-${randomUUID().slice(0, 8)}.sock`
    const server = await listen(join(place.path, socket), folder)
    if (!server) throw inUse(folder, '')
    try {
      await takeNextNumber(place.path, socket, folder)
    } catch (error) {
      await close(server)
      throw error
    }
    return { release: () => close(server) }
  } finally {
    await place.forget()
  }
}

/** A pipe of Windows is gone with its process, so its name alone is the lock. */
async function lockPipe(folder: string): Promise<FolderLock> {
  const name = createHash('sha256').update(folder.toLowerCase()).digest('hex').slice(0, 32)
  const path = `\\\\.\\pipe\\strata-${name}`
  const server = await listen(path, folder)
  if (!server) throw inUse(folder, (await ask(path)) ?? '')
  return { release: () => close(server) }
}

/**
 * Makes our listening socket the holder. Holders are numbered: a symbolic link `strata.lock.7` names the
 * socket of the seventh, and whoever finds the last one dead tries to be the next. Only one can create that
 * link, and the last number is never removed, not even on release, so no number is ever taken twice:
 * however long a process stood between its question and its attempt, it cannot oust a live holder.
 */
async function takeNextNumber(place: string, socket: string, folder: string): Promise<void> {
  for (;;) {
    const taken = await numbersTaken(place)
    const last = taken.at(-1) ?? 0
    const holder = last === 0 ? undefined : await ask(join(place, lockName(last)))
    if (holder !== undefined) throw inUse(folder, holder)
    try {
      await symlink(socket, join(place, lockName(last + 1)))
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw cannotUse(folder, error)
      continue
    }
    for (const number of taken) await removeHolder(place, number)
    return
  }
}

function lockName(number: number): string {
  return `strata.lock.${number}`
}

/** In ascending order. */
async function numbersTaken(place: string): Promise<number[]> {
  const names = await readdir(place)
  const numbers = names.flatMap((name) => {
    const match = /^strata\.lock\.(\d{1,15})$/.exec(name)
    return match ? [Number(match[1])] : []
  })
  return numbers.toSorted((a, b) => a - b)
}

/** Removes what a dead holder left: its link and, when it was killed, its socket. */
async function removeHolder(place: string, number: number): Promise<void> {
  const link = join(place, lockName(number))
  try {
    await rm(join(place, basename(await readlink(link))), { force: true })
    await rm(link, { force: true })
  } catch {
    // Another holder has removed it before us.
  }
}

/** A path of the folder that leaves room for a socket's name: through a symbolic link if need be. */
async function shortPath(folder: string): Promise<{ path: string; forget: () => Promise<void> }> {
  if (Buffer.byteLength(folder) + LONGEST_NAME_BYTES <= MAX_SOCKET_PATH_BYTES)
    return { path: folder, forget: async () => {} }
  const parent = tmpdir().length > 60 ? '/tmp' : tmpdir()
  const link = await mkdtemp(join(parent, 'strata-'))
  await symlink(folder, join(link, 'd'))
  return { path: join(link, 'd'), forget: () => rm(link, { recursive: true }) }
}

/** Resolves to nothing when something is there already. */
function listen(path: string, folder: string): Promise<Server | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      socket.end(String(process.pid))
    })
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(undefined)
      else reject(cannotUse(folder, error))
    })
    server.listen(path, () => {
      server.unref()
      resolve(server)
    })
  })
}

/** The process number of the live holder; undefined when nobody listens. */
function ask(path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(path)
    socket.setEncoding('utf8')
    socket.setTimeout(2_000, () => socket.destroy())
    socket.on('data', (text: string) => (answer += text))
    socket.on('error', (error) => {
      if (hasCode(error, 'ECONNREFUSED') || hasCode(error, 'ENOENT')) resolve(undefined)
    })
    socket.on('close', () => resolve(answer))
  })
}

function cannotUse(folder: string, error: unknown): StartError {
  return new StartError(`Cannot use the data folder "${folder}": ${reason(error)}`)
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code
}

function inUse(folder: string, holder: string): StartError {
  const who = holder === '' ? 'another process' : `process ${holder}`
  return new StartError(
    `Cannot use the data folder "${folder}": ${who} is using it; stop that one first, or set STRATA_DATA to another folder`,
  )
}

function close(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve())
  })
}
