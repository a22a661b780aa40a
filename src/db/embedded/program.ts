import { spawn } from 'node:child_process'

/**
 * Who PostgreSQL's programs run as: us, root inside a user namespace (where it has another number), or
 * another account. PostgreSQL refuses to run as root.
 */
export interface Account {
  /** Put before the program and its arguments. */
  prefix: readonly string[]
  /** The account to switch to; absent when the files we make already belong to the right one. */
  ids?: { uid: number; gid: number }
}

export interface Outcome {
  /** `null` when the program could not be started or was ended by a signal. */
  code: number | null
  /** What it wrote to stdout and stderr, or why it could not be started. */
  output: string
}

/** PostgreSQL needs little, and our own environment holds secrets that its account must not read. */
const ENVIRONMENT = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin',
  LC_ALL: 'C',
  TZ: 'UTC',
}

/** What `spawn` needs to run a program as `account`. */
export function launch(account: Account, program: string, args: readonly string[]) {
  const [command = program, ...rest] = [...account.prefix, program, ...args]
  const environment = process.platform === 'win32' ? {} : { env: ENVIRONMENT }
  return { command, args: rest, options: { cwd: '/', ...environment, ...account.ids } }
}

/** Runs a short program to its end. Never throws: a program that cannot be started is an outcome too. */
export function runProgram(
  account: Account,
  program: string,
  args: readonly string[],
  timeoutMs = 10_000,
): Promise<Outcome> {
  return new Promise((resolve) => {
    const { command, args: all, options } = launch(account, program, args)
    const chunks: Buffer[] = []
    const child = spawn(command, all, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: timeoutMs,
    })
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.on('error', (error) => resolve({ code: null, output: error.message }))
    child.on('close', (code) => resolve({ code, output: Buffer.concat(chunks).toString().trim() }))
  })
}
