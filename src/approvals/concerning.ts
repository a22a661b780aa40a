import { selectHeld } from '#access/assignment.sql.ts'
import { heldAt } from '#access/is-eligible.ts'
import { permits } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import type { PageRequest } from '#db/page.ts'
import type { Ctx } from '#lib/ctx.ts'
import { selectApprovals } from './approval.sql.ts'
import type { ApprovalFilter, ApprovalRow } from './approval.sql.ts'
import { isPerson } from './decider.ts'

/**
 * A filter for what may be addressed to the caller: by name, or by a role held anywhere, which
 * {@link addressedOnly} then looks at closer.
 */
export async function addressedFilter(sql: Sql, ctx: Ctx): Promise<ApprovalFilter> {
  const { roles } = await selectHeld(sql, ctx, { principalId: ctx.actorId, line: null })
  return { addressee: { principalId: ctx.actorId, roleIds: roles.map(({ id }) => id) } }
}

/** The same for what the caller may decide; undefined for whoever decides nothing. */
export async function decidableFilter(sql: Sql, ctx: Ctx): Promise<ApprovalFilter | undefined> {
  if (!permits(ctx.permissions, 'approvals.decide')) return undefined
  if (!(await isPerson(sql, ctx))) return undefined
  return { ...(await addressedFilter(sql, ctx)), status: 'pending', notBy: ctx.actorId }
}

/** Leaves out what is addressed to a role that the caller does not hold where the approval belongs. */
export async function addressedOnly(
  sql: Sql,
  ctx: Ctx,
  approvals: readonly ApprovalRow[],
): Promise<ApprovalRow[]> {
  const rolesIn = new Map<string | null, ReadonlySet<string>>()
  const addressed: ApprovalRow[] = []
  for (const approval of approvals) {
    const { requiredRoleId, workspaceId } = approval
    if (requiredRoleId !== null && !rolesIn.has(workspaceId)) {
      const held = await heldAt(sql, ctx, { principalId: ctx.actorId, workspaceId })
      rolesIn.set(workspaceId, new Set(held.roles.map(({ id }) => id)))
    }
    const isHeld = requiredRoleId === null || rolesIn.get(workspaceId)?.has(requiredRoleId)
    if (isHeld) addressed.push(approval)
  }
  return addressed
}

const MAX_CANDIDATES = 200

/** What waits for the caller's decision, newest first; of the newest 200 that may be its to decide. */
export async function decidableNow(sql: Sql, ctx: Ctx, limit: number): Promise<ApprovalRow[]> {
  const filter = await decidableFilter(sql, ctx)
  if (!filter) return []
  const page: PageRequest = { listing: '', limit: MAX_CANDIDATES, after: undefined }
  const candidates = await selectApprovals(sql, ctx, { ...filter, page })
  const addressed = await addressedOnly(sql, ctx, candidates.slice(0, MAX_CANDIDATES))
  return addressed.slice(0, limit)
}
