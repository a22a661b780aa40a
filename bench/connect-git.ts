// Seconds to publish a made-up repository: whole, unchanged, and after one more commit.
//   npm run bench:git                  2,000 commits and 1,000 files
//   npm run bench:git -- 10000 5000
import { execFileSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { connectGit, DEFAULT_MAX_COMMITS } from '#connectors/git/connect-git.ts'
import { describeReport } from '#connectors/git/describe-report.ts'
import { realClock } from '#connectors/target.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import { startAll } from '../demo/strata.ts'

const [commits = 2000, files = 1000] = process.argv.slice(2).map(Number)
const FIRST_COMMIT = 1_500_000_000
const HOUR = 3600

const folder = await mkdtemp(join(tmpdir(), 'bench-git-'))
try {
  const path = join(folder, 'repository')
  git(['init', '--quiet', '--bare', '--initial-branch=main', path])
  git(['-C', path, 'fast-import', '--quiet'], history(commits, files))
  await using strata = await startAll(join(folder, 'data'))
  const client = { url: strata.url, token: strata.adminKey }
  const body = { slug: 'bench', name: 'Bench' }
  const { id: workspaceId } = await call(client, createWorkspace, { body })
  await measure('first', path, { client, workspaceId })
  await measure('unchanged', path, { client, workspaceId })
  git(['-C', path, 'fast-import', '--quiet'], oneMore())
  await measure('one commit', path, { client, workspaceId })
} finally {
  await rm(folder, { recursive: true, force: true })
}

async function measure(
  name: string,
  path: string,
  target: { client: ClientOptions; workspaceId: string },
): Promise<void> {
  const signal = AbortSignal.timeout(HOUR * 1000)
  const start = performance.now()
  const report = await connectGit(
    { path, env: process.env, signal },
    { ...target, signal, clock: realClock },
    { withEmails: false, maxCommits: DEFAULT_MAX_COMMITS, replace: false, dryRun: false },
  )
  const seconds = (performance.now() - start) / 1000
  process.stdout.write(`${name.padEnd(10)} ${seconds.toFixed(1)} s\n`)
  for (const line of describeReport(report)) process.stdout.write(`           ${line}\n`)
}

function git(args: string[], input = ''): void {
  execFileSync('git', args, { input, stdio: ['pipe', 'ignore', 'inherit'] })
}

/** A history in git's import format: every file in the first commit, then one to eight changes each. */
function history(commitCount: number, fileCount: number): string {
  const paths = Array.from({ length: fileCount }, (_, n) =>
    n % 25 === 0 ? `docs/part${n % 9}/page${n}.md` : `src/module${n % 70}/file${n}.ts`,
  )
  const lines: string[] = []
  for (let n = 0; n < commitCount; n += 1) {
    const changed = Array.from({ length: 1 + (n % 8) }, (_, k) => (n * 37 + k * 101) % fileCount)
    const chosen = n === 0 ? paths : paths.filter((_, index) => changed.includes(index))
    lines.push(...commit(n), ...chosen.flatMap((path) => file(path, n)))
  }
  return `${lines.join('\n')}\n`
}

function oneMore(): string {
  const [, ...header] = commit(1)
  const from = 'from refs/heads/main^0'
  const first = 'commit refs/heads/main'
  return [
    first,
    ...header.filter((line) => !/^(?:mark|from)/.test(line)),
    from,
    ...file('src/new.ts', 1),
    '',
  ].join('\n')
}

function commit(n: number): string[] {
  const who = `Developer ${n % 40} <developer${n % 40}@example.org> ${FIRST_COMMIT + n * 6 * HOUR} +0000`
  const message = `Change number ${n}\n\nBecause of reason ${n}, the module behaves another way.`
  return [
    'commit refs/heads/main',
    `mark :${n + 1}`,
    `author ${who}`,
    `committer ${who}`,
    `data ${message.length}`,
    message,
    ...(n === 0 ? [] : [`from :${n}`]),
  ]
}

function file(path: string, n: number): string[] {
  const content = `# ${path}\n\n${'A line of text that stays.\n'.repeat(20)}And one of commit ${n}.\n`
  return [`M 100644 inline ${path}`, `data ${content.length}`, content]
}
