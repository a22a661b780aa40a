import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import type { TestContext } from 'node:test'
import { COMMANDS } from '#cli/commands.ts'
import { runProgram } from '#cli/program.ts'
import type { MemoryProvider } from '#context/recall.ts'
import type { Database } from '#db/sql.ts'
import { listen } from '../../src/listen.ts'
import { wholeApp } from './whole.ts'

const PROGRAM = join(import.meta.dirname, '../../bin/control-plane.mjs')

/** The whole control plane on a port of this machine, until the end of the test. */
export async function loopbackServer(
  t: TestContext,
  db: Database,
  provider: MemoryProvider | null = null,
): Promise<string> {
  const app = wholeApp(db, provider)
  const listening = await listen(app, { host: '127.0.0.1', port: 0, setting: 'test' })
  t.after(() => listening[Symbol.asyncDispose]())
  return listening.url
}

export interface Ended {
  code: number | null
  out: string
  err: string
}

interface Surroundings {
  stdin?: string
  env?: Record<string, string>
  cwd?: string
}

export interface Person {
  /** Nobody's home but this person's. */
  home: string
  /** A folder in the home folder, in which commands are run. */
  folder: string
  /** Runs a command line of the program in this process. */
  run: (...args: string[]) => Promise<Ended>
  /** The same with something on standard input, in another environment or folder. */
  runWith: (surroundings: Surroundings, ...args: string[]) => Promise<Ended>
  /** Runs it and reads its answer; fails when it does not exit with 0. */
  json: (...args: string[]) => Promise<Record<string, unknown>>
  /** Runs the program as a process of its own, which takes ten times as long. */
  spawn: (surroundings: Surroundings, ...args: string[]) => Promise<Ended>
  /** Starts that process, for a test that does something while it runs. */
  start: (...args: string[]) => ReturnType<typeof startProcess>
}

/** Somebody with a home folder of their own who types commands; only `env` and PATH are set. */
export function person(t: TestContext, env: Record<string, string> = {}): Person {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'cli-')))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const folder = join(home, 'work')
  mkdirSync(folder)
  const place = ({ cwd = folder, env: more }: Surroundings) => ({
    cwd,
    env: { PATH: process.env['PATH'] ?? '', HOME: home, ...env, ...more },
  })
  const runWith: Person['runWith'] = (surroundings, ...args) =>
    runHere(args, { ...place(surroundings), home, stdin: surroundings.stdin ?? '' })
  return {
    home,
    folder,
    runWith,
    run: (...args) => runWith({}, ...args),
    json: async (...args) => {
      const { code, out, err } = await runWith({}, ...args, '--json')
      if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${err}`)
      return JSON.parse(out) as Record<string, unknown>
    },
    spawn: (surroundings, ...args) =>
      runToEnd(startProcess(args, place(surroundings)), surroundings.stdin ?? ''),
    start: (...args) => startProcess(args, place({})),
  }
}

async function runHere(
  args: readonly string[],
  {
    stdin,
    ...surroundings
  }: { cwd: string; env: Record<string, string>; home: string; stdin: string },
): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const code = await runProgram(
    { commands: COMMANDS, version: '0.0.0' },
    {
      ...surroundings,
      stdin: Readable.from(stdin === '' ? [] : [Buffer.from(stdin)]),
      stdout,
      stderr,
      signal: new AbortController().signal,
    },
    args,
  )
  return { code, out: String(stdout.read() ?? ''), err: String(stderr.read() ?? '') }
}

function startProcess(
  args: readonly string[],
  options: { cwd: string; env: Record<string, string> },
) {
  return spawn(process.execPath, [PROGRAM, ...args], { ...options, stdio: 'pipe' })
}

export async function runToEnd(child: ReturnType<typeof startProcess>, stdin = ''): Promise<Ended> {
  const texts = Promise.all([textOf(child.stdout), textOf(child.stderr)])
  // A program that ends without reading its input is no failure.
  child.stdin.on('error', () => undefined)
  child.stdin.end(stdin)
  const [code] = (await once(child, 'exit')) as [number | null]
  const [out, err] = await texts
  return { code, out, err }
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  for await (const chunk of stream) text += String(chunk)
  return text
}
