import { spawn } from 'node:child_process'
import type { SpawnOptions } from 'node:child_process'
import { join } from 'node:path'
import type { TestContext } from 'node:test'

/** A process that runs a program of ours. */
export interface Running {
  pid: number
  /** What it has said so far, log and messages together. */
  said: () => string
  /** What it has said to the person who started it. */
  told: () => string
  kill: (signal: NodeJS.Signals) => void
  /** Resolves when it has said a line that begins with `text`; rejects when it ends without. */
  until: (text: string) => Promise<void>
  /** Resolves to the first match in what it says; rejects when it ends without. */
  hears: (pattern: RegExp) => Promise<RegExpExecArray>
  /** Nobody listens to it any more: what it says from now on finds its pipes closed. */
  hangUp: () => void
  /** Resolves to its exit code, `null` when a signal ended it. */
  ended: Promise<number | null>
}

/** Starts Node with these arguments; whatever happens, the process is gone when the test is over. */
export function startProgram(
  t: TestContext,
  args: readonly string[],
  options: SpawnOptions = {},
): Running {
  const child = spawn(process.execPath, args, { ...options, stdio: 'pipe' })
  let said = ''
  let told = ''
  const ended = new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', (code) => resolve(code))
  })
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
    told += text
  })
  t.after(async () => {
    child.kill('SIGKILL')
    await ended
  })
  const found = <T>(find: () => T | null) =>
    new Promise<T>((resolve, reject) => {
      const check = () => {
        const what = find()
        if (what !== null) resolve(what)
      }
      child.stdout.on('data', check)
      child.stderr.on('data', check)
      check()
      void ended.then(() => reject(new Error(`It ended too early: ${said}`)))
    })
  const hasSaid = (text: string) => said.split('\n').some((line) => line.startsWith(text)) || null
  return {
    pid: child.pid ?? 0,
    said: () => said,
    told: () => told,
    kill: (signal) => void child.kill(signal),
    until: async (text) => void (await found(() => hasSaid(text))),
    hears: (pattern) => found(() => pattern.exec(said)),
    hangUp: () => {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    ended,
  }
}

const PROGRAM = join(import.meta.dirname, '../../bin/strata.mjs')

/** Starts a role of the server with just these settings, and none of whoever runs the tests. */
export function startRole(
  t: TestContext,
  role: string,
  settings: Readonly<Record<string, string>>,
  options: SpawnOptions = {},
): Running {
  return startProgram(t, [PROGRAM, role], { ...options, env: { ...ownEnvironment(), ...settings } })
}

/** The environment of whoever runs the tests, without the settings of a server of theirs. */
export function ownEnvironment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(
    ([name]) => !/^(CP|CB|STRATA|CONTROL_PLANE)_/.test(name),
  )
  return Object.fromEntries(kept)
}
