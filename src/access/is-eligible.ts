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
  /** Names of skills that the candidate may use of those it has; null or absent: all. */
  grantedSkills?: readonly string[] | null
}

export interface Eligibility {
  eligible: boolean
  /** What is asked for and not there; empty when eligible. */
  missing: Missing[]
}

/**
 * Whether a principal meets what work asks for. A role, capability or skill counts where it holds: given for the
 * whole tenant, or for the workspace of the work or one above it. Eligibility is no right: whoever calls
 * checks permissions apart. Reads nothing when nothing is asked for.
 */
export async function isEligible(
  sql: Sql,
  ctx: Tenancy,
  requirements: Requirements,
  candidate: Candidate,
): Promise<Eligibility> {
  const asked = [requirements.roles, requirements.capabilities, requirements.skills]
  if (asked.every((names = []) => names.length === 0)) return { eligible: true, missing: [] }
  const missing = missingOf(requirements, await heldAt(sql, ctx, candidate))
  return { eligible: missing.length === 0, missing }
}

/** What a principal has that counts in a workspace, or outside all of them. */
export async function heldAt(
  sql: Sql,
  ctx: Tenancy,
  { principalId, workspaceId, grantedSkills = null }: Candidate,
): Promise<Held> {
  const line = await lineOf(sql, ctx, workspaceId)
  const { skills, ...held } = await selectHeld(sql, ctx, { principalId, line })
  return {
    ...held,
    skills: skills.filter(({ name }) => grantedSkills?.includes(name) ?? true),
  }
}

/** The ids of a workspace and of those above it, nearest first; none outside every workspace. */
export async function lineOf(
  sql: Sql,
  ctx: Tenancy,
  workspaceId: string | null,
): Promise<string[]> {
  if (workspaceId === null) return []
  return (await selectAncestors(sql, ctx, workspaceId)).map(({ id }) => id)
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
