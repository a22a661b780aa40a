import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Git } from '#connectors/git/git.ts'

/** A real repository in a temporary folder, removed after the test. */
export interface TestRepository {
  readonly path: string
  /** Runs git in it and returns what it printed. */
  readonly git: (...args: string[]) => string
  readonly write: (file: string | Buffer, content: string | Buffer) => void
  /** Stages everything and commits it one day after the commit before; returns the sha. */
  readonly commit: (message: string, over?: Record<string, string>) => string
}

const FIRST_COMMIT = Date.UTC(2024, 0, 30, 12)
const DAY = 24 * 3600 * 1000
const ISOLATED = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'Ann Author',
  GIT_AUTHOR_EMAIL: 'ann@example.org',
  GIT_COMMITTER_NAME: 'Ann Author',
  GIT_COMMITTER_EMAIL: 'ann@example.org',
}

/** What the connector needs to read a repository; it gives up after 30 seconds. */
export function gitAt(path: string): Git {
  return { path, env: process.env, signal: AbortSignal.timeout(30_000) }
}

export function testFolder(t: TestContext, prefix = 'git-'): string {
  const folder = mkdtempSync(join(tmpdir(), prefix))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}

export function testRepository(t: TestContext): TestRepository {
  const path = testFolder(t)
  let commits = 0
  const run = (args: string[], env: Record<string, string> = {}): string =>
    execFileSync('git', args, {
      cwd: path,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...ISOLATED, ...env },
    }).trim()
  run(['init', '--quiet', '--initial-branch=main'])
  return {
    path,
    git: (...args) => run(args),
    write(file, content) {
      const target = Buffer.concat([Buffer.from(`${path}/`), Buffer.from(file)])
      const folder = Buffer.from(dirname(target.toString('latin1')), 'latin1')
      mkdirSync(folder, { recursive: true })
      writeFileSync(target, content)
    },
    commit(message, over = {}) {
      const date = new Date(FIRST_COMMIT + commits * DAY).toISOString()
      commits += 1
      run(['add', '--all'])
      run(['commit', '--quiet', '--allow-empty', '--allow-empty-message', '-m', message], {
        GIT_AUTHOR_DATE: date,
        GIT_COMMITTER_DATE: date,
        ...over,
      })
      return run(['rev-parse', 'HEAD'])
    },
  }
}
