import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { open, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { StartError } from '#lib/start-error.ts'
import type { Home } from './account.ts'
import { lastLine } from './cluster.ts'
import { launch, runProgram } from './program.ts'
import type { Account } from './program.ts'

const MAX_LOG_BYTES = 8 * 1024 * 1024
const POLL_MS = 20
/** Recovery after a crash reads at most `max_wal_size`, which takes seconds, on slow disks minutes. */
const READY_TIMEOUT_MS = 600_000
const TELL_AFTER_MS = 3_000
const STOP_TIMEOUT_MS = 60_000
const STRAGGLERS_TIMEOUT_MS = 30_000
const STRAGGLERS_POLL_MS = 200

/** A running server process. */
export interface Server {
  /** Resolves when the process has ended, whoever ended it. */
  ended: Promise<void>
  /** Shuts down cleanly: open transactions are rolled back, everything committed is on disk. */
  stop: () => Promise<void>
}

/**
 * Starts PostgreSQL and waits until it accepts connections. On Linux it shuts down by itself when the
 * calling process ends in any way; call from the main thread, since the kernel watches the thread.
 */
export async function startServer(
  home: Home,
  args: readonly string[],
  progress: (message: string) => void,
): Promise<Server> {
  const account = await endingWithUs(home.account)
  const started = Date.now()
  for (;;) {
    const result = await tryStart({ ...home, account }, args, progress)
    if (typeof result !== 'string') return result
    // After kill -9 of a whole server its last processes may need a moment to notice.
    const passing = result.includes('pre-existing shared memory block')
    if (!passing || Date.now() - started > STRAGGLERS_TIMEOUT_MS) {
      throw new StartError(
        `Cannot start the database server: ${result} (see ${join(home.folder, 'server.log')})`,
      )
    }
    await delay(STRAGGLERS_POLL_MS)
  }
}

/** Resolves to the server's reason when it does not start. */
async function tryStart(
  home: Home,
  args: readonly string[],
  progress: (message: string) => void,
): Promise<Server | string> {
  const logPath = join(home.folder, 'server.log')
  const log = await openLog(logPath)
  const program = join(home.binaries.folder, 'bin/postgres')
  const { command, args: all, options } = launch(home.account, program, args)
  const child = spawn(command, all, {
    ...options,
    // Its own process group: Ctrl-C reaches us, and we stop it after we have finished.
    detached: true,
    stdio: ['ignore', log.file.fd, log.file.fd],
  })
  const ended = endOf(child)
  await log.file.close()
  if (await becomesReady(child, join(home.folder, 'data'), progress)) {
    child.unref()
    return { ended, stop: () => stop(child, ended) }
  }
  await stop(child, ended)
  return cause((await readFile(logPath, 'utf8')).slice(log.start))
}

async function endingWithUs(account: Account): Promise<Account> {
  if (process.platform !== 'linux') return account
  const words = ['setpriv', '--pdeathsig', 'INT', '--']
  const tried = await runProgram(account, words[0] ?? '', [...words.slice(1), 'true'])
  return tried.code === 0 ? { ...account, prefix: [...account.prefix, ...words] } : account
}

async function openLog(path: string) {
  const size = await stat(path).then(
    (found) => found.size,
    () => 0,
  )
  const keep = size < MAX_LOG_BYTES
  return { file: await open(path, keep ? 'a' : 'w', 0o600), start: keep ? size : 0 }
}

async function becomesReady(
  child: ChildProcess,
  data: string,
  progress: (message: string) => void,
): Promise<boolean> {
  const started = Date.now()
  let told = false
  while (child.exitCode === null && child.signalCode === null) {
    const lines = await readFile(join(data, 'postmaster.pid'), 'utf8').catch(() => '')
    const [pid, , , , , , , status] = lines.split('\n')
    if (pid === String(child.pid) && status?.trim() === 'ready') return true
    const waited = Date.now() - started
    if (waited > READY_TIMEOUT_MS) break
    if (!told && waited > TELL_AFTER_MS) {
      progress('The database server is recovering; this can take a minute')
      told = true
    }
    await delay(POLL_MS)
  }
  return false
}

/** The first reason that the server gave; what follows it are consequences and hints. */
function cause(said: string): string {
  const fatal = /^.*(?:FATAL|PANIC):\s*(.*)$/m.exec(said)
  return fatal?.[1] ?? lastLine(said)
}

function endOf(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.once('exit', () => resolve())
    child.once('error', () => resolve())
  })
}

async function stop(child: ChildProcess, ended: Promise<void>): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  child.ref()
  const timer = setTimeout(() => child.kill('SIGQUIT'), STOP_TIMEOUT_MS)
  child.kill('SIGINT')
  await ended
  clearTimeout(timer)
}
