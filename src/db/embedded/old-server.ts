import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '#lib/start-error.ts'
import { runProgram } from './program.ts'

const POLL_MS = 50

/**
 * Returns when no server of an earlier process of ours works on this cluster any more. The caller holds the
 * folder's lock, so such a server has lost its process; it gets the signal to shut down (again) and is
 * waited for: its last checkpoint takes seconds (1.6-1.8 s measured). Throws a StartError after `timeoutMs`.
 */
export async function awaitOldServer(
  data: string,
  progress: (message: string) => void,
  timeoutMs = 120_000,
): Promise<void> {
  const started = Date.now()
  let told = false
  for (;;) {
    const pid = await readPid(data)
    if (pid === undefined) return
    if (!(await isServerOf(pid, data))) {
      await disownPid(data)
      return
    }
    if (!told) {
      progress('Waiting for the previous database server to finish')
      told = true
      signal(pid, 'SIGINT')
    }
    if (Date.now() - started > timeoutMs) {
      throw new StartError(
        `Cannot open the database in "${data}": the previous server (process ${pid}) does not stop; ` +
          'end that process and start again',
      )
    }
    await delay(POLL_MS)
  }
}

async function readPid(data: string): Promise<number | undefined> {
  const text = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number.parseInt(text, 10)
  return Number.isSafeInteger(pid) && pid > 0 ? pid : undefined
}

/**
 * The number belongs to nobody now, to a zombie or to some other program; PostgreSQL could not tell and would
 * refuse to start. It does not mind its parent's number, and the rest of the file has to stay: by the shared
 * memory named there it recognises server processes that outlived their postmaster.
 */
async function disownPid(data: string): Promise<void> {
  const path = join(data, 'postmaster.pid')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text !== undefined) await writeFile(path, text.replace(/^\d+/, String(process.pid)))
}

async function isServerOf(pid: number, data: string): Promise<boolean> {
  return (await commandLine(pid)).includes(`-D ${data}`)
}

async function commandLine(pid: number): Promise<string> {
  if (process.platform === 'linux') {
    const text = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')
    return text.replaceAll('\0', ' ')
  }
  if (process.platform === 'win32') return ''
  return (await runProgram({ prefix: [] }, 'ps', ['-ww', '-o', 'command=', '-p', String(pid)]))
    .output
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // It ended by itself in the meantime.
  }
}
