import type { Approval } from '#contract/approvals.ts'
import type { ApprovalView } from '#contract/context.ts'
import type { ApprovalRow } from './approval.sql.ts'

/** A row as the contract shows it. */
export function approvalReply({ decidedAt, createdAt, ...row }: ApprovalRow): Approval {
  return {
    ...row,
    decidedAt: decidedAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  }
}

/** What a context tells of one that is pending. */
export function approvalView(row: ApprovalRow): ApprovalView {
  const { id, taskId, artifactId, gate, comment, stale, createdAt } = row
  return { id, taskId, artifactId, gate, comment, stale, createdAt: createdAt.toISOString() }
}
