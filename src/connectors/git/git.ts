import { spawn } from 'node:child_process'
import type { ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** A repository folder, the environment git is found through, and the way to stop. */
export interface Git {
  readonly path: string
  /** Only the search path and what Windows needs is taken from it; nothing of git's own variables. */
  readonly env: Readonly<Record<string, string | undefined>>
  readonly signal: AbortSignal
}

export type GitProblem =
  | 'git_missing'
  | 'folder_missing'
  | 'not_a_repository'
  | 'another_repository'
  | 'command_failed'
  | 'output_too_large'

/** Why a repository could not be read, in one sentence for a person. */
export class GitError extends Error {
  override name = 'GitError'
  readonly problem: GitProblem

  constructor(problem: GitProblem, message: string, options: { cause?: unknown } = {}) {
    super(message, options)
    this.problem = problem
  }
}

/**
 * What keeps a repository that we do not trust from running anything: each of these settings can name
 * a program in the repository's own configuration. A network is never used, not even by a partial clone
 * that would fetch missing objects.
 */
const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.quotePath=false',
  'core.precomposeUnicode=false',
  'core.alternateRefsCommand=true',
  'core.sshCommand=false',
  'credential.helper=',
  'diff.external=',
  'diff.renameLimit=1000',
  'gpg.program=false',
  'gpg.openpgp.program=false',
  'gpg.ssh.program=false',
  'gpg.x509.program=false',
  'i18n.logOutputEncoding=UTF-8',
  'log.showSignature=false',

  'log.showRoot=true',
  'mailmap.file=/dev/null',
  'protocol.allow=never',
  'safe.directory=*',
  'uploadpack.packObjectsHook=',
]
const VARIABLES = {
  GIT_ALLOW_PROTOCOL: 'none',
  GIT_ATTR_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  LC_ALL: 'C',
}
const PASSED_ON = ['PATH', 'Path', 'SYSTEMROOT', 'SystemRoot', 'TEMP', 'TMP', 'TMPDIR']
const MAX_STDERR_BYTES = 8192

type GitProcess = ChildProcessByStdio<Writable, Readable, Readable>

export interface RunningGit {
  readonly process: GitProcess
  /** Settles when the process has ended; rejects with a `GitError` unless it exited with 0. */
  readonly ended: Promise<void>
}

/** Starts `git <args>` in the repository: no shell, no pager, none of the repository's programs. */
export function startGit(git: Git, args: readonly string[]): RunningGit {
  git.signal.throwIfAborted()
  const process = spawn('git', commandLine(git, args), {
    env: environment(git),
    stdio: ['pipe', 'pipe', 'pipe'],
    signal: git.signal,
    windowsHide: true,
  })
  // A process that ends before it has read its input is reported by its exit code.
  process.stdin.on('error', () => undefined)
  const ended = exit(git, process, args[0] ?? '')
  // Whoever reads the output awaits `ended` only after the last byte; until then it is not "unhandled".
  ended.catch(() => undefined)
  return { process, ended }
}

/** The whole output of a command whose answer is small, as text. Throws `GitError`. */
export async function gitText(git: Git, args: readonly string[], maxBytes = 1 << 20) {
  const { process, ended } = startGit(git, args)
  process.stdin.end()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) {
      process.kill('SIGKILL')
      throw new GitError('output_too_large', `Cannot read the answer of git ${args[0]}: too large`)
    }
    chunks.push(chunk)
  }
  await ended
  return Buffer.concat(chunks).toString('utf8')
}

function commandLine(git: Git, args: readonly string[]): string[] {
  return [
    '--no-pager',
    '--no-optional-locks',
    '--no-replace-objects',
    '--literal-pathspecs',
    ...SETTINGS.flatMap((setting) => ['-c', setting]),
    '-C',
    git.path,
    ...args,
  ]
}

function environment(git: Git): Record<string, string> {
  const passed = PASSED_ON.flatMap((name) => {
    const value = git.env[name]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { ...Object.fromEntries(passed), ...VARIABLES }
}

async function exit(git: Git, process: GitProcess, command: string): Promise<void> {
  let stderr = ''
  process.stderr.setEncoding('utf8')
  process.stderr.on('data', (text: string) => {
    if (stderr.length < MAX_STDERR_BYTES) stderr += text
  })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  process.on('error', (error: NodeJS.ErrnoException) => {
    reject(git.signal.aborted ? git.signal.reason : startProblem(error))
  })
  process.on('close', (code) => {
    if (code === 0) resolve()
    else reject(exitProblem(git, command, stderr))
  })
  await promise
}

function startProblem(error: NodeJS.ErrnoException): GitError {
  return error.code === 'ENOENT'
    ? new GitError('git_missing', 'Cannot run git: it is not installed or not on PATH', {
        cause: error,
      })
    : new GitError('command_failed', `Cannot run git: ${error.message}`, { cause: error })
}

function exitProblem(git: Git, command: string, stderr: string): GitError {
  if (/not a git repository/i.test(stderr)) {
    return new GitError('not_a_repository', `Cannot read "${git.path}": not a git repository`)
  }
  const reason = printable(stderr).trim().split('\n')[0] ?? ''
  return new GitError(
    'command_failed',
    `Cannot read "${git.path}": git ${command} failed${reason === '' ? '' : `: ${reason}`}`,
  )
}

/** git repeats hostile names in its messages; they must not drive a terminal. */
function printable(text: string): string {
  return text.replaceAll(/[^\n\P{C}]/gu, '?')
}
