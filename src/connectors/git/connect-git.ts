import { isCurrent, planHead, planParts } from '../plan.ts'
import type { PlanContext, PlannedSnapshot, RecordedPart } from '../plan.ts'
import { publishSnapshot } from '../publish.ts'
import type { SnapshotOutcome } from '../publish.ts'
import { hashText } from '../snapshot.ts'
import { readRecorded } from '../target.ts'
import type { Target } from '../target.ts'
import { selectDocuments } from './documents.ts'
import type { Git } from './git.ts'
import { layOutRepository, scopesOf } from './layout.ts'
import { cleanRepositoryName, repositoryName } from './names.ts'
import { planDocuments, publishDocuments } from './publish-documents.ts'
import type { DocumentPlan, DocumentsOutcome } from './publish-documents.ts'
import type { RepositoryReading, RepositoryRecord, TagRecord } from './records.ts'
import { readKnownCommits, readStoredDocuments, refuseStranger } from './recorded.ts'
import type { StoredDocuments } from './recorded.ts'
import { addItems, snapshotCounts, upToDateReport } from './report.ts'
import type { ConnectGitReport } from './report.ts'
import { openRepository, readRepository, readTags } from './repository.ts'

export interface ConnectGitOptions {
  /** Instead of the name taken from the remote or the folder. */
  readonly name?: string
  /** Publish e-mail addresses in clear; otherwise a person is a name and a hash. */
  readonly withEmails: boolean
  readonly maxCommits: number
  /** Takes over a name under which another repository was published. */
  readonly replace: boolean
  /** Reads and compares, and sends nothing. */
  readonly dryRun: boolean
  readonly onProgress?: (progress: Progress) => void
}

export interface Progress {
  readonly phase: 'commits' | 'documents' | 'snapshots'
  readonly done: number
  /** Undefined while it is not known. */
  readonly total: number | undefined
}

const SOURCE = 'git'
/** About a quarter of a gigabyte of memory; a longer history is published as an incomplete one. */
export const DEFAULT_MAX_COMMITS = 50_000
const MAX_CHANGES_PER_COMMIT = 2000
/** Part of the fingerprint: a new layout is published even where the repository did not change. */
const LAYOUT_VERSION = 1

/**
 * Publishes a repository: documents first, then the parts that changed, the head part last. Safe to
 * repeat and to interrupt at any point; what memory already holds is asked from memory, nothing is kept
 * on this machine. Throws `GitError` when the repository cannot be read, and what the client throws.
 */
export async function connectGit(
  git: Git,
  target: Target,
  options: ConnectGitOptions,
): Promise<ConnectGitReport> {
  const repository = await openRepository(git)
  const repo = options.name
    ? cleanRepositoryName(options.name)
    : repositoryName(repository.path, repository.remote)
  const recorded = await readRecorded(target, { source: SOURCE, root: repo })
  const fingerprint = fingerprintOf(repository, await readTags(git), options)
  if (isCurrent(recorded, scopesOf(repo).head, fingerprint)) {
    return upToDateReport(repo, repository.head, options.dryRun)
  }
  const reading = await readRepository(git, repository, {
    maxCommits: options.maxCommits,
    maxChangesPerCommit: MAX_CHANGES_PER_COMMIT,
    onCommit: (done) => options.onProgress?.({ phase: 'commits', done, total: undefined }),
  })
  if (recorded.size > 0 && !options.replace) await refuseStranger(target, repo, reading)
  return await publish({ git, target, options, repo, reading, recorded, fingerprint })
}

interface Run {
  git: Git
  target: Target
  options: ConnectGitOptions
  repo: string
  reading: RepositoryReading
  recorded: ReadonlyMap<string, RecordedPart>
  fingerprint: string
}

async function publish(run: Run): Promise<ConnectGitReport> {
  const { target, options, repo, reading, recorded } = run
  const selection = selectDocuments(reading.tree)
  const isFirst = recorded.size === 0
  const stored = isFirst ? new Map<string, string>() : await readStoredDocuments(target, repo)
  const documentPlan = planDocuments(selection.documents, stored)
  const documents = await bringDocuments(run, documentPlan, stored)
  const snapshots = await planSnapshots(run, documents)
  const outcomes = options.dryRun ? [] : await publishSnapshots(run, snapshots.all)
  return {
    ...upToDateReport(repo, reading.repository.head, options.dryRun),
    upToDate: false,
    commits: reading.commits.length,
    files: reading.tree.length,
    tags: reading.tags.length,
    documents: {
      stored: documents.stored.size - documentPlan.unchanged.length,
      removed: documentPlan.remove.length,
      unchanged: documentPlan.unchanged.length,
    },
    snapshots: snapshotCounts(snapshots.all, snapshots.plan),
    items: addItems(outcomes),
    warnings: [
      ...reading.warnings,
      ...boundWarnings(reading),
      ...selection.warnings,
      ...documents.warnings,
      ...outcomes.flatMap(({ warnings }) => warnings),
    ],
  }
}

async function bringDocuments(
  run: Run,
  plan: DocumentPlan,
  stored: StoredDocuments,
): Promise<DocumentsOutcome> {
  const { git, target, options, repo } = run
  if (options.dryRun) {
    const all = [...plan.unchanged, ...plan.store].map(({ path }) => path)
    return { stored: new Set(all), warnings: [] }
  }
  const total = plan.store.length + plan.remove.length
  let done = 0
  return await publishDocuments(
    target,
    { git, repo, changedAt: changeTimes(run, stored) },
    plan,
    () => {
      done += 1
      options.onProgress?.({ phase: 'documents', done, total })
    },
  )
}

/** When each live path changed last, in seconds; for a stored document only when that is news. */
function changeTimes({ repo, reading, recorded }: Run, stored: StoredDocuments) {
  const publishedAt = recorded.get(scopesOf(repo).head)?.observedAt
  const published = publishedAt === undefined ? 0 : Date.parse(publishedAt) / 1000
  const times = new Map<string, number>()
  const seen = new Set<string>()
  for (const { committedAt, changes } of reading.commits) {
    for (const { path } of changes) {
      if (seen.has(path)) continue
      seen.add(path)
      const isNews = committedAt !== undefined && (committedAt > published || !stored.has(path))
      if (isNews) times.set(path, committedAt)
    }
  }
  return times
}

async function planSnapshots(run: Run, documents: DocumentsOutcome) {
  const { target, options, repo, reading, recorded } = run
  const context: PlanContext = {
    origin: { source: SOURCE, root: repo },
    recorded,
    now: target.clock.now(),
    at: reading.repository.headCommittedAt,
  }
  const needsKnown = !reading.historyComplete && recorded.size > 0
  const known = needsKnown ? await readKnownCommits(target, repo) : new Set<string>()
  const layout = layOutRepository(reading, {
    repo,
    withEmails: options.withEmails,
    documents: documents.stored,
    isKnown: (sha) => known.has(sha),
  })
  // An incomplete history does not know the first commit, which the repository part tells.
  const parts = layout.parts.filter(({ scope }) => !needsKnown || scope !== repo)
  const plan = planParts(parts, context, (scope) => mayRetire(scope, repo, reading))
  // A run that had to leave a document out is not complete: the next one tries again.
  const complete = documents.warnings.length === 0
  const fingerprint = complete ? run.fingerprint : `${run.fingerprint}-incomplete`
  const head = planHead(layout.head, fingerprint, plan, context)
  return { plan, all: head ? [...plan.snapshots, head] : plan.snapshots }
}

/** Live files and tags are always read whole; the history only in a complete clone. */
function mayRetire(scope: string, repo: string, reading: RepositoryReading): boolean {
  const { files, tags, head } = scopesOf(repo)
  if (scope === head || scope === repo) return false
  const isWhole = [files, tags].some((whole) => scope === whole || scope.startsWith(`${whole}/`))
  return isWhole || reading.historyComplete
}

async function publishSnapshots(
  { target, options }: Run,
  snapshots: readonly PlannedSnapshot[],
): Promise<SnapshotOutcome[]> {
  const outcomes: SnapshotOutcome[] = []
  const total = snapshots.length
  options.onProgress?.({ phase: 'snapshots', done: 0, total })
  for (const snapshot of snapshots) {
    outcomes.push(await publishSnapshot(target, SOURCE, snapshot))
    options.onProgress?.({ phase: 'snapshots', done: outcomes.length, total })
  }
  return outcomes
}

function boundWarnings({ commits }: RepositoryReading): string[] {
  const cut = commits.filter(
    ({ changesOmitted, parents }) => changesOmitted > 0 && parents.length > 0,
  )
  if (cut.length === 0) return []
  return [
    `${cut.length} commits changed more than ${MAX_CHANGES_PER_COMMIT} files; only that many are listed`,
  ]
}

/** Everything that decides what is published, without reading the history. */
function fingerprintOf(
  repository: RepositoryRecord,
  tags: readonly TagRecord[],
  options: ConnectGitOptions,
): string {
  const { head, branch, remote, shallow } = repository
  const made = [LAYOUT_VERSION, head, branch, remote, shallow, tags]
  return hashText(JSON.stringify([made, options.withEmails, options.maxCommits])).slice(0, 32)
}
