import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ByteRange } from '#lib/byte-range.ts'
import { noted, unavailable } from './store.ts'
import type { BlobStore } from './store.ts'

const READ_BYTES = 256 * 1024
const CHECK_MS = 5000

/**
 * A store in a folder, which any number of processes may share. A file is written beside its place, synced
 * and renamed, so what has its name is whole, also after a crash or a kill.
 */
export function createFolderStore(folder: string): BlobStore {
  const root = resolve(folder)
  const drafts = join(root, 'drafts')
  const safe = new Set<string>()
  const placeOf = (key: string) => join(root, 'objects', key)
  const draftOf = (key: string) => join(drafts, key.slice(key.lastIndexOf('/') + 1))
  return {
    async put(key, source, signal) {
      const place = placeOf(key)
      const draft = draftOf(key)
      const { chunks, failure } = noted(source.chunks)
      try {
        await makeFolder(drafts)
        await writeDraft(draft, chunks, signal)
        await mkdir(dirname(place), { recursive: true, mode: 0o700 })
        signal.throwIfAborted()
        await rename(draft, place)
        await syncNames(place, root, safe)
      } catch (error) {
        await rm(draft, { force: true }).catch(() => {})
        throw failure() ?? unavailable(error)
      }
    },
    get: (key, range) => readFile(placeOf(key), range),
    async remove(key) {
      await rm(draftOf(key), { force: true }).catch(refuse)
      await rm(placeOf(key), { force: true }).catch(refuse)
    },
    async check() {
      const probe = join(drafts, `probe-${randomUUID()}`)
      try {
        await makeFolder(drafts)
        await writeDraft(probe, oneByte(), AbortSignal.timeout(CHECK_MS))
        await rm(probe)
      } catch (error) {
        await rm(probe, { force: true }).catch(() => {})
        throw unavailable(error)
      }
    },
  }
}

function refuse(cause: unknown): never {
  throw unavailable(cause)
}

async function* oneByte(): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(1)
}

/** Makes the folder and those on the way, and has their names survive a crash. */
async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let at = folder; at.length >= first.length; at = dirname(at)) await syncFolder(dirname(at))
}

async function writeDraft(
  draft: string,
  chunks: AsyncIterable<Uint8Array>,
  signal: AbortSignal,
): Promise<void> {
  await using file = await open(draft, 'wx', 0o600)
  for await (const chunk of chunks) {
    signal.throwIfAborted()
    await writeAll(file, chunk)
  }
  await file.sync()
}

/** A write may take less than it is given. */
async function writeAll(file: FileHandle, chunk: Uint8Array): Promise<void> {
  for (let at = 0; at < chunk.length;) {
    const { bytesWritten } = await file.write(chunk, at)
    at += bytesWritten
  }
}

const MAX_SAFE = 10_000

/**
 * Has the name of a file survive a crash, and those of its folders up to the root: another process may have
 * made them and not have synced them yet. `safe` are folders whose own names are known to survive.
 */
async function syncNames(file: string, root: string, safe: Set<string>): Promise<void> {
  if (safe.size > MAX_SAFE) safe.clear()
  let folder = dirname(file)
  await syncFolder(folder)
  for (; folder !== root && !safe.has(folder); folder = dirname(folder)) {
    await syncFolder(dirname(folder))
    safe.add(folder)
  }
}

/** A new name is safe only when its folder is; Windows syncs it by itself and has no way to ask. */
async function syncFolder(folder: string): Promise<void> {
  if (process.platform === 'win32') return
  await using handle = await open(folder, 'r')
  await handle.sync()
}

async function* readFile(place: string, { start, end }: ByteRange): AsyncGenerator<Uint8Array> {
  try {
    await using file = await open(place, 'r')
    for (let at = start; at < end;) {
      const buffer = Buffer.allocUnsafe(Math.min(READ_BYTES, end - at))
      const { bytesRead } = await file.read(buffer, 0, buffer.length, at)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
      at += bytesRead
    }
  } catch (error) {
    // What is not there is told by who knows that it should be.
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw unavailable(error)
  }
}
