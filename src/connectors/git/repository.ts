import { stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { GitError, gitText, startGit } from './git.ts'
import type { Git } from './git.ts'
import { readLog, seconds } from './log.ts'
import { pathText } from './path-text.ts'
import type {
  CommitRecord,
  EntryType,
  RepositoryReading,
  RepositoryRecord,
  TagRecord,
  TreeEntry,
} from './records.ts'
import { splitTokens } from './tokens.ts'

const MAX_NAME_BYTES = 16 * 1024
const TAG_FORMAT = [
  'refname:strip=2',
  'objecttype',
  'objectname',
  '*objecttype',
  '*objectname',
  'creatordate:unix',
  'contents:subject',
  'contents:body',
]
  .map((field) => `%(${field})`)
  .join('%00')
const TAG_FIELDS = 8
const ENTRY_TYPES: Readonly<Record<string, EntryType>> = {
  '100644': 'file',
  '100664': 'file',
  '100755': 'executable',
  '120000': 'symlink',
  '160000': 'submodule',
}

export interface ReadOptions {
  readonly maxCommits: number
  readonly maxChangesPerCommit: number
  readonly onCommit?: (count: number) => void
}

/**
 * What stands at the head of the repository that holds `git.path`. Works for bare, shallow, detached and
 * empty ones. Throws `GitError` when there is no folder, no repository or no git.
 */
export async function openRepository(git: Git): Promise<RepositoryRecord> {
  const path = resolve(git.path)
  const folder = await stat(path).catch(() => undefined)
  if (!folder?.isDirectory()) {
    throw new GitError('folder_missing', `Cannot read "${git.path}": no such folder`)
  }
  const flags = await gitText(git, ['rev-parse', '--is-bare-repository', '--is-shallow-repository'])
  const [bare, shallow] = flags.split('\n')
  const head = await optional(git, ['rev-parse', '--verify', '--quiet', 'HEAD^{commit}'])
  const branch = await optional(git, ['symbolic-ref', '--quiet', '--short', 'HEAD'])
  const remote = await optional(git, ['config', '--get', 'remote.origin.url'])
  const time =
    head && (await gitText(git, ['log', '-1', '--no-show-signature', '--format=%ct', head]))
  return {
    path,
    bare: bare === 'true',
    shallow: shallow === 'true',
    head,
    headCommittedAt: time === undefined ? undefined : seconds(time.trim()),
    branch,
    remote: remote === undefined ? undefined : remoteName(remote),
  }
}

/** Reads history, live paths and tags of an opened repository. */
export async function readRepository(
  git: Git,
  repository: RepositoryRecord,
  options: ReadOptions,
): Promise<RepositoryReading> {
  const { head, shallow } = repository
  const warnings: string[] = []
  const tags = await readTags(git)
  if (head === undefined) {
    return { repository, commits: [], historyComplete: !shallow, tree: [], tags, warnings }
  }
  const tree = await readTree(git, head)
  const log = await readLog(git, { ...options, head, maxCommits: options.maxCommits + 1 })
  const cut = log.length > options.maxCommits
  if (cut) {
    warnings.push(
      `Only the newest ${options.maxCommits} commits are read; older ones stay as they were published`,
    )
  }
  if (shallow) {
    warnings.push(
      'The clone is shallow: commits beyond its edge are not read (git fetch --unshallow)',
    )
  }
  const commits = (cut ? log.slice(0, options.maxCommits) : log).map((commit) =>
    shallow && commit.parents.length === 0 ? withoutChanges(commit) : commit,
  )
  return { repository, commits, historyComplete: !cut && !shallow, tree, tags, warnings }
}

/** At the edge of a shallow clone every file looks added: that is not what the commit did. */
function withoutChanges(commit: CommitRecord): CommitRecord {
  return { ...commit, changes: [], changesOmitted: commit.changes.length + commit.changesOmitted }
}

/** All tags by name, annotated ones with their message (without a signature). */
export async function readTags(git: Git): Promise<TagRecord[]> {
  const tokens = await readTokens(git, [
    'for-each-ref',
    '--sort=refname',
    `--format=${TAG_FORMAT}%00`,
    'refs/tags',
  ])
  const tags: TagRecord[] = []
  for (let start = 0; start + TAG_FIELDS <= tokens.length; start += TAG_FIELDS) {
    tags.push(tagRecord(tokens.slice(start, start + TAG_FIELDS)))
  }
  return tags
}

function tagRecord(fields: readonly Buffer[]): TagRecord {
  const text = (index: number): string => (fields[index] ?? Buffer.alloc(0)).toString('utf8')
  const annotated = text(1) === 'tag'
  const [type, sha] = annotated ? [text(3), text(4)] : [text(1), text(2)]
  return {
    // for-each-ref ends each line with a line feed, which then stands before the next name.
    name: pathText(stripLineFeed(fields[0] ?? Buffer.alloc(0))),
    annotated,
    commit: type === 'commit' ? sha : undefined,
    taggedAt: seconds(text(5)),
    message: annotated ? `${text(6)}\n\n${text(7)}`.trim() : '',
  }
}

function stripLineFeed(bytes: Buffer): Buffer {
  return bytes[0] === 0x0a ? bytes.subarray(1) : bytes
}

async function readTree(git: Git, head: string): Promise<TreeEntry[]> {
  const tokens = await readTokens(git, ['ls-tree', '-r', '-z', '--long', '--full-tree', head])
  return tokens.flatMap((token) => {
    const tab = token.indexOf(0x09)
    const [mode = '', , blobSha = '', size = ''] = token.toString('latin1', 0, tab).split(/ +/)
    const type = ENTRY_TYPES[mode]
    if (tab === -1 || type === undefined) return []
    const path = pathText(token.subarray(tab + 1))
    return [{ path, type, blobSha, size: size === '-' ? undefined : Number(size) }]
  })
}

async function readTokens(git: Git, args: readonly string[]): Promise<Buffer[]> {
  const { process, ended } = startGit(git, args)
  process.stdin.end()
  const splitter = splitTokens(MAX_NAME_BYTES)
  const tokens: Buffer[] = []
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
    // Copied, so that a short name does not keep the whole chunk in memory.
    for (const token of splitter.push(chunk)) tokens.push(Buffer.from(token))
  }
  await ended
  return tokens
}

/** The one-line answer of a command that says "there is none" by its exit code. */
async function optional(git: Git, args: readonly string[]): Promise<string | undefined> {
  try {
    const text = (await gitText(git, args)).trim()
    return text === '' ? undefined : text
  } catch (error) {
    if (error instanceof GitError && error.problem === 'command_failed') return undefined
    throw error
  }
}

/**
 * `host/owner/name` of the address a repository was cloned from: the same for every way to reach it, and
 * without credentials. Undefined for a path on this machine.
 */
export function remoteName(address: string): string | undefined {
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(address) ? URL.parse(address) : null
  if (url?.protocol === 'file:') return undefined
  const scp = /^(?:[^@/\\]*@)?([^:/\\]{2,}):(?!\/\/)(.+)$/.exec(address)
  const host = url ? url.hostname : scp?.[1]
  const path = url ? url.pathname : scp?.[2]
  if (!host || path === undefined) return undefined
  const parts = path.split('/').filter((part) => part !== '')
  return [host.toLowerCase(), ...parts].join('/').replace(/\.git$/, '')
}
