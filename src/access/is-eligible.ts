import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { selectAncestors } from '#org/workspace.sql.ts'
import { selectHeld } from './assignment.sql.ts'
import { missingOf } from './eligibility.ts'
import type { Held, Missing, Requirements } from './eligibility.ts'

/** Who would do the work, and where it belongs. */
export interface Candidate {
  principalId: string
  /** The workspace of the work; null when it belongs to none. */
  workspaceId: string | null
  /** Skills the candidate has; asked of whoever keeps them. */
  skills?: Held['skills']
}

export interface Eligibility {
  eligible: boolean
  /** What is asked for and not there; empty when eligible. */
  missing: Missing[]
}

/**
 * Whether a principal meets what work asks for. A role or capability counts where it holds: given for the
 * whole tenant, or for the workspace of the work or one above it. Eligibility is no right: whoever calls
 * checks permissions apart. Reads nothing when nothing is asked for.
 */
export async function isEligible(
  sql: Sql,
  ctx: Tenancy,
  requirements: Requirements,
  candidate: Candidate,
): Promise<Eligibility> {
  const { skills = [] } = candidate
  const asked = [requirements.roles, requirements.capabilities, requirements.skills]
  if (asked.every((names = []) => names.length === 0)) return { eligible: true, missing: [] }
  const held = await heldAt(sql, ctx, candidate)
  const missing = missingOf(requirements, { ...held, skills })
  return { eligible: missing.length === 0, missing }
}

/** The roles and capabilities of a principal that count in a workspace, or outside all of them. */
export async function heldAt(
  sql: Sql,
  ctx: Tenancy,
  { principalId, workspaceId }: Pick<Candidate, 'principalId' | 'workspaceId'>,
): Promise<Pick<Held, 'roles' | 'capabilities'>> {
  const line = workspaceId === null ? [] : await selectAncestors(sql, ctx, workspaceId)
  return await selectHeld(sql, ctx, { principalId, line: line.map(({ id }) => id) })
}

/** True when the principal has the role at the place: what a decision addressed to a role asks. */
export async function hasRole(
  sql: Sql,
  ctx: Tenancy,
  candidate: { principalId: string; workspaceId: string | null; roleId: string },
): Promise<boolean> {
  const { roles } = await heldAt(sql, ctx, candidate)
  return roles.some(({ id }) => id === candidate.roleId)
}
