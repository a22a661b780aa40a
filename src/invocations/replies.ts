import type { SkillInvocation } from '#contract/skill-invocations.ts'
import type { InvocationRow } from './invocation.sql.ts'

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
