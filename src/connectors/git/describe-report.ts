import type { ConnectGitReport } from './report.ts'

/** A report in a few lines for a person. */
export function describeReport(report: ConnectGitReport): string[] {
  const { repository, head, documents, snapshots, items } = report
  const at = head === undefined ? 'no commit yet' : head.slice(0, 10)
  const lines = report.upToDate
    ? [`${repository} at ${at}: memory is up to date, nothing was sent`]
    : [
        `${repository} at ${at}: ${report.commits} commits, ${report.files} files, ${report.tags} tags`,
        `${report.dryRun ? 'would send' : 'sent'} ${parts(snapshots)}, ${documentCounts(documents)}`,
      ]
  if (!report.upToDate && !report.dryRun) {
    lines.push(
      `memory: ${items.opened} opened, ${items.superseded} replaced, ${items.closed} closed, ` +
        `${items.unchanged} unchanged`,
    )
  }
  return [...lines, ...report.warnings.map((warning) => `warning: ${warning}`)]
}

function parts({ sent, unchanged, retired, items }: ConnectGitReport['snapshots']): string {
  const emptied = retired === 0 ? '' : `, ${retired} emptied`
  return `${sent} snapshots with ${items} items (${unchanged} unchanged${emptied})`
}

function documentCounts({ stored, removed, unchanged }: ConnectGitReport['documents']): string {
  const gone = removed === 0 ? '' : `, ${removed} removed`
  return `${stored} documents (${unchanged} unchanged${gone})`
}
