import type { Skill, SkillSummary } from '#contract/skills.ts'
import type { SkillInvocation } from '#contract/skill-invocations.ts'
import type { Tool, ToolView } from '#contract/tools.ts'
import type { InvocationRow } from './invocation.sql.ts'
import type { ToolDetail, ToolRow } from './read-tools.ts'
import type { SkillRow, SkillSummaryRow } from './skill.sql.ts'

export function skillSummaryReply({ createdAt, ...row }: SkillSummaryRow): SkillSummary {
  return { ...row, createdAt: createdAt.toISOString() }
}

export function skillReply({ contract, ...row }: SkillRow): Skill {
  return { ...skillSummaryReply(row), contract }
}

export function toolView(row: Omit<ToolRow, 'isAssigned'>): ToolView {
  const { id, name, version, description, status, protocol, sideEffects, riskLevel, against } = row
  const identity = { id, name, version, description, status, protocol, sideEffects, riskLevel }
  const available = against.length === 0
  const reasons = available ? (['assigned_and_protocol_supported'] as const) : against
  return { ...identity, available, reasons: [...reasons] }
}

export function toolReply(row: ToolDetail): Tool {
  return { ...toolView(row), contract: row.contract }
}

export function invocationReply(row: InvocationRow): SkillInvocation {
  const { id, skillId, skillName, skillVersion, protocol, workspaceId, runId, actionId } = row
  const { basis, approvalId, invokedBy, inputs, status, fencingToken, executorId } = row
  const { outputs, error, reason, version } = row
  return {
    id,
    skillId,
    skillName,
    skillVersion,
    protocol,
    workspaceId,
    runId,
    actionId,
    basis,
    approvalId,
    invokedBy,
    inputs,
    status,
    fencingToken,
    maxAttempts: row.contract.retryPolicy.maxAttempts,
    executorId,
    leaseExpiresAt: row.leaseExpiresAt?.toISOString() ?? null,
    availableAt: status === 'pending' ? row.availableAt.toISOString() : null,
    outputs,
    error,
    reason,
    version,
    createdAt: row.createdAt.toISOString(),
    finishedAt: row.finishedAt?.toISOString() ?? null,
  }
}
