import type { Plan, PlannedSnapshot } from '../plan.ts'
import type { SnapshotOutcome } from '../publish.ts'

/** What one run of the connector did, or with `dryRun` would do. */
export interface ConnectGitReport {
  readonly repository: string
  readonly head: string | undefined
  readonly dryRun: boolean
  /** Nothing had changed since the last run; nothing was sent. */
  readonly upToDate: boolean
  readonly commits: number
  readonly files: number
  readonly tags: number
  readonly documents: { stored: number; removed: number; unchanged: number }
  readonly snapshots: { sent: number; unchanged: number; retired: number; items: number }
  /** What memory counted over all snapshots: entities and relations together. */
  readonly items: ItemCounts
  readonly warnings: readonly string[]
}

export interface ItemCounts {
  readonly opened: number
  readonly closed: number
  readonly unchanged: number
  readonly superseded: number
  readonly pending: number
}

export function upToDateReport(
  repository: string,
  head: string | undefined,
  dryRun: boolean,
): ConnectGitReport {
  return {
    repository,
    head,
    dryRun,
    upToDate: true,
    commits: 0,
    files: 0,
    tags: 0,
    documents: { stored: 0, removed: 0, unchanged: 0 },
    snapshots: { sent: 0, unchanged: 0, retired: 0, items: 0 },
    items: addItems([]),
    warnings: [],
  }
}

export function snapshotCounts(
  snapshots: readonly PlannedSnapshot[],
  plan: Plan,
): ConnectGitReport['snapshots'] {
  const retired = snapshots.filter(({ reason }) => reason === 'retired').length
  return {
    sent: snapshots.length - retired,
    unchanged: plan.unchanged,
    retired,
    items: snapshots.reduce(
      (sum, { entities, relations }) => sum + entities.length + relations.length,
      0,
    ),
  }
}

export function addItems(outcomes: readonly SnapshotOutcome[]): ItemCounts {
  const sum = (name: keyof ItemCounts): number =>
    outcomes.reduce((total, outcome) => total + outcome[name], 0)
  return {
    opened: sum('opened'),
    closed: sum('closed'),
    unchanged: sum('unchanged'),
    superseded: sum('superseded'),
    pending: sum('pending'),
  }
}
