import { AppError } from '#lib/errors.ts'
import type { WorkRules } from '#projects/read-governance.ts'

const RULES = {
  run: { rule: 'requireApprovalForRun', wish: 'start a run of' },
  completion: { rule: 'requireApprovalForCompletion', wish: 'complete' },
} as const

/**
 * Throws `approval_required` when the project of a task asks for an approval before a run of it, or
 * before its completion. No tenant has approvals yet, so none is ever given.
 */
export function requireApproved(
  taskId: string,
  rules: WorkRules | undefined,
  before: keyof typeof RULES,
): void {
  const { rule, wish } = RULES[before]
  if (!rules?.governance[rule]) return
  throw new AppError(
    'approval_required',
    `Cannot ${wish} task "${taskId}": its project asks for an approval first`,
    { details: { projectId: rules.projectId, governance: rule } },
  )
}
