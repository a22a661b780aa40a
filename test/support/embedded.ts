import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { chown, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** An empty folder, removed with everything in it at the end of the test. */
export async function temporaryFolder(t: TestContext, prefix = 'strata-test-'): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), prefix))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** A process that runs a program of ours. */
export interface Running {
  pid: number
  /** What it has said so far. */
  said: () => string
  kill: (signal: NodeJS.Signals) => void
  /** Resolves when it has said a line that begins with `text`; rejects when it ends without. */
  until: (text: string) => Promise<void>
  /** Resolves to its exit code, `null` when a signal ended it. */
  ended: Promise<number | null>
}

/** Starts the program that writes rows into an embedded PostgreSQL of its own; see embedded-writer.ts. */
export function startWriter(
  t: TestContext,
  args: readonly string[],
  options: SpawnOptions = {},
): Running {
  const program = join(import.meta.dirname, 'embedded-writer.ts')
  const child = spawn(process.execPath, [program, ...args], { ...options, stdio: 'pipe' })
  let said = ''
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', (code) => resolve(code))
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const until = (text: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (said.split('\n').some((line) => line.startsWith(text))) resolve()
      }
      child.stdout.on('data', check)
      child.stderr.on('data', check)
      check()
      void ended.then(() => reject(new Error(`It ended without saying "${text}": ${said}`)))
    })
  return {
    pid: child.pid ?? 0,
    said: () => said,
    kill: (signal) => void child.kill(signal),
    until,
    ended,
  }
}

export interface OrdinaryUser {
  uid?: number
  gid?: number
}

/**
 * An account that is not root, which then owns `folder`: `nobody` when we are root, otherwise ourselves.
 * Skips the test, with the reason, when that account could not read the program.
 */
export async function ordinaryUser(
  t: TestContext,
  folder: string,
): Promise<OrdinaryUser | undefined> {
  if (process.getuid?.() !== 0) return {}
  const user = { uid: 65_534, gid: 65_534 }
  await chown(folder, user.uid, user.gid)
  const read = `require('node:fs').readFileSync(${JSON.stringify(import.meta.filename)})`
  const tried = spawn(process.execPath, ['-e', read], { ...user, cwd: '/', stdio: 'ignore' })
  const code = await new Promise<number | null>((resolve) => {
    tried.once('error', () => resolve(null))
    tried.once('exit', resolve)
  })
  if (code === 0) return user
  t.skip('NOT TESTED: an ordinary user cannot read the folder of this program, which only root can')
  return undefined
}
