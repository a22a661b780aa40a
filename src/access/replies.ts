import type { Delegation } from '#contract/delegations.ts'
import type { WorkspaceMember } from '#contract/members.ts'
import type { Assignment, Capability, Role } from '#contract/roles.ts'
import type { AssignmentRow } from './assignment.sql.ts'
import type { CapabilityRow } from './capability.sql.ts'
import type { DelegationRow } from './delegation.sql.ts'
import type { MemberRow } from './member.sql.ts'
import type { RoleRow } from './role.sql.ts'

export function roleReply(row: RoleRow): Role {
  const { id, workspaceId, slug, name, description, version } = row
  return { id, workspaceId, slug, name, description, version, createdAt: moment(row) }
}

export function capabilityReply(row: CapabilityRow): Capability {
  const { id, name, description, version } = row
  return { id, name, description, version, createdAt: moment(row) }
}

export function assignmentReply(row: AssignmentRow): Assignment {
  const { createdAt: _, ...assignment } = row
  return { ...assignment, createdAt: moment(row) }
}

export function memberReply(row: MemberRow): WorkspaceMember {
  const { id: principalId, workspaceId, displayName, kind, addedBy } = row
  return { workspaceId, principalId, displayName, kind, addedBy, createdAt: moment(row) }
}

export function delegationReply(row: DelegationRow): Delegation {
  const { id, humanPrincipalId, agentPrincipalId, permissions, status, createdBy } = row
  return {
    id,
    humanPrincipalId,
    agentPrincipalId,
    permissions,
    status,
    expiresAt: row.expiresAt?.toISOString() ?? null,
    revokedAt: row.revokedAt?.toISOString() ?? null,
    createdBy,
    createdAt: moment(row),
  }
}

function moment({ createdAt }: { createdAt: Date }): string {
  return createdAt.toISOString()
}
