import type { Git } from './git.ts'
import { startGit } from './git.ts'
import { pathText } from './path-text.ts'
import type { ChangeStatus, CommitRecord, FileChange } from './records.ts'
import { splitTokens } from './tokens.ts'

const MARK = 'commit'
/** Sha, parents, author name, author e-mail, author time, committer time, message. */
const FORMAT = `tformat:${MARK}%x00%H%x00%P%x00%aN%x00%aE%x00%at%x00%ct%x00%B`
const HEADER_FIELDS = 7
const STATUSES: Readonly<Record<string, ChangeStatus>> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type_changed',
}
const MAX_TOKEN_BYTES = 64 * 1024
/** The last second that a four-digit year can name. */
const MAX_SECONDS = 253_402_300_799

export interface LogOptions {
  readonly head: string
  readonly maxCommits: number
  readonly maxChangesPerCommit: number
  readonly onCommit?: (count: number) => void
}

/**
 * Reads the history of one commit, newest first and no parent before its child. Memory grows with the
 * number of commits and of changed paths, never with the size of a message or a name.
 */
export async function readLog(git: Git, options: LogOptions): Promise<CommitRecord[]> {
  const { process, ended } = startGit(git, [
    'log',
    '-z',
    '--name-status',
    '--find-renames',
    '--date-order',
    '--diff-merges=off',
    '--no-ext-diff',
    '--no-textconv',
    '--no-show-signature',

    '--no-color',
    `--max-count=${options.maxCommits}`,
    `--format=${FORMAT}`,
    options.head,
    '--',
  ])
  process.stdin.end()
  const splitter = splitTokens(MAX_TOKEN_BYTES)
  const commits: CommitRecord[] = []
  const parser = logParser(options.maxChangesPerCommit, (commit) => {
    commits.push(commit)
    options.onCommit?.(commits.length)
  })
  for await (const chunk of process.stdout as AsyncIterable<Buffer>) {
    for (const token of splitter.push(chunk)) parser.push(token)
  }
  await ended
  parser.end()
  return commits
}

export interface LogParser {
  push: (token: Buffer) => void
  end: () => void
}

/** Turns the tokens of `git log -z --name-status` in our format into records, one commit at a time. */
export function logParser(
  maxChangesPerCommit: number,
  onCommit: (commit: CommitRecord) => void,
): LogParser {
  let header: Buffer[] | undefined
  let changes: FileChange[] = []
  let omitted = 0
  let status = ''
  let paths: Buffer[] = []

  const finish = (): void => {
    if (header?.length === HEADER_FIELDS) onCommit(commitRecord(header, changes, omitted))
    header = undefined
    changes = []
    omitted = 0
  }
  const readStatus = (token: Buffer): void => {
    const text = token.toString('latin1').trimStart()
    if (text === MARK) {
      finish()
      header = []
    } else {
      status = text
      paths = []
    }
  }
  const readPath = (token: Buffer): void => {
    paths.push(token)
    if (paths.length < pathsOf(status)) return
    const change = fileChange(status, paths)
    if (changes.length < maxChangesPerCommit && change) changes.push(change)
    else omitted += 1
    status = ''
  }
  return {
    push(token) {
      if (header && header.length < HEADER_FIELDS) header.push(token)
      else if (status === '') readStatus(token)
      else readPath(token)
    },
    end: finish,
  }
}

function pathsOf(status: string): 1 | 2 {
  return status.startsWith('R') || status.startsWith('C') ? 2 : 1
}

function fileChange(status: string, paths: readonly Buffer[]): FileChange | undefined {
  const kind = STATUSES[status.slice(0, 1)]
  const [first, second] = paths
  if (kind === undefined || !first) return undefined
  if (!second) return { status: kind, path: pathText(first) }
  const similarity = Number(status.slice(1))
  return {
    status: kind,
    path: pathText(second),
    from: pathText(first),
    ...(Number.isInteger(similarity) ? { similarity } : {}),
  }
}

function commitRecord(
  header: readonly Buffer[],
  changes: readonly FileChange[],
  changesOmitted: number,
): CommitRecord {
  const text = (index: number): string => (header[index] ?? Buffer.alloc(0)).toString('utf8')
  return {
    sha: text(0),
    parents: text(1)
      .split(' ')
      .filter((sha) => sha !== ''),
    author: { name: text(2), email: text(3) },
    authoredAt: seconds(text(4)),
    committedAt: seconds(text(5)),
    message: text(6),
    changes,
    changesOmitted,
  }
}

/** A commit may claim any time; one outside 1970..9999 is no time at all. */
export function seconds(text: string): number | undefined {
  const value = Number(text)
  return text !== '' && Number.isInteger(value) && value >= 0 && value <= MAX_SECONDS
    ? value
    : undefined
}
