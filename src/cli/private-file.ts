import { randomUUID } from 'node:crypto'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { reason } from '#lib/start-error.ts'
import { CliError } from './cli-error.ts'

const MAX_BYTES = 1 << 20
const OWNER_ONLY = 0o600

/**
 * The text of a file that only its owner may read or write, undefined when there is none. Throws
 * `CliError` when its mode is anything but 0600 or it belongs to somebody else: what others can read is
 * no secret, and what others can write is not believed.
 */
export async function readPrivate(path: string): Promise<string | undefined> {
  try {
    await using file = await open(path, 'r')
    const { mode, uid, size } = await file.stat()
    refuseOpenToOthers(path, mode, uid)
    if (size > MAX_BYTES) throw new CliError(`Cannot read ${path}: it is too large`)
    return await file.readFile('utf8')
  } catch (error) {
    if (error instanceof CliError) throw error
    if (isMissing(error)) return undefined
    throw new CliError(`Cannot read ${path}: ${reason(error)}`, { cause: error })
  }
}

function refuseOpenToOthers(path: string, mode: number, uid: number): void {
  if (process.platform === 'win32') return
  const us = process.getuid?.()
  if (uid !== us) throw new CliError(`Cannot use ${path}: it belongs to another account`)
  const bits = mode & 0o777
  if (bits === OWNER_ONLY) return
  throw new CliError(`Cannot use ${path}: its mode is 0${bits.toString(8)} and must be 0600`, {
    hint: `chmod 600 ${path}`,
  })
}

/** Writes the file whole or not at all, mode 0600; folders on the way are made with 0700. */
export async function writePrivate(path: string, text: string): Promise<void> {
  const draft = `${path}.${randomUUID()}`
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    {
      await using file = await open(draft, 'wx', OWNER_ONLY)
      // The umask may have taken bits away, but never adds any.
      await file.chmod(OWNER_ONLY)
      await file.writeFile(text)
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw new CliError(`Cannot write ${path}: ${reason(error)}`, { cause: error })
  }
}

export function isMissing(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException | undefined)?.code
  return code === 'ENOENT' || code === 'ENOTDIR'
}
