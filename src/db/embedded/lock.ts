import { mkdtemp, rename, rm, stat, symlink } from 'node:fs/promises'
import { createHash, randomUUID } from 'node:crypto'
import { createServer, connect } from 'node:net'
import type { Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { StartError, reason } from '#lib/start-error.ts'

/** The limit for the path of a Unix socket is 108 bytes on Linux and 104 on macOS, with the final zero. */
export const MAX_SOCKET_PATH_BYTES = 103

const NAME = 'strata.lock'

/** The right of this process to use a data folder. It ends with the process, however that ends. */
export interface FolderLock {
  release: () => Promise<void>
}

/**
 * Takes the data folder for this process, or throws a StartError naming the process that has it. The lock
 * is a socket that we listen on: no answer means that the holder is gone, which no file can tell.
 */
export async function lockFolder(folder: string): Promise<FolderLock> {
  const place = await shortPath(folder)
  try {
    for (let attempt = 0; attempt < 10; attempt++) {
      const server = await listen(place.path, folder)
      if (server) return { release: () => close(server) }
      const seen = await inode(place.path)
      if (seen === undefined) continue
      const answer = await ask(place.path)
      if (answer === 'stale') await removeStale(place.path, seen)
      else throw inUse(folder, answer)
    }
    throw inUse(folder, '')
  } finally {
    await place.forget()
  }
}

/** A socket path that fits, whatever the length of the folder's own: through a symbolic link if need be. */
async function shortPath(folder: string): Promise<{ path: string; forget: () => Promise<void> }> {
  if (process.platform === 'win32') {
    const name = createHash('sha256').update(folder.toLowerCase()).digest('hex').slice(0, 32)
    return { path: `\\\\.\\pipe\\strata-${name}`, forget: async () => {} }
  }
  const path = join(folder, NAME)
  if (Buffer.byteLength(path) <= MAX_SOCKET_PATH_BYTES) return { path, forget: async () => {} }
  const parent = tmpdir().length > 60 ? '/tmp' : tmpdir()
  const link = await mkdtemp(join(parent, 'strata-'))
  await symlink(folder, join(link, 'd'))
  return { path: join(link, 'd', NAME), forget: () => rm(link, { recursive: true }) }
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
      else reject(new StartError(`Cannot use the data folder "${folder}": ${reason(error)}`))
    })
    server.listen(path, () => {
      server.unref()
      resolve(server)
    })
  })
}

/** The process number of the live holder, or that there is none. */
function ask(path: string): Promise<string> {
  return new Promise((resolve) => {
    let answer = ''
    const socket = connect(path)
    socket.setEncoding('utf8')
    socket.setTimeout(2_000, () => socket.destroy())
    socket.on('data', (text: string) => (answer += text))
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'ECONNREFUSED' || error.code === 'ENOENT') resolve('stale')
    })
    socket.on('close', () => resolve(answer))
  })
}

async function inode(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).ino
  } catch {
    return undefined
  }
}

/**
 * Another process may have taken the lock between our question and now. So the socket is moved aside, which
 * only one process can do, looked at again, and put back if it is not the one that did not answer.
 */
async function removeStale(path: string, seen: number): Promise<void> {
  const aside = `${path}.${randomUUID().slice(0, 8)}`
  try {
    await rename(path, aside)
  } catch {
    return
  }
  if ((await inode(aside)) === seen) await rm(aside, { force: true })
  else await rename(aside, path)
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
