import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { requirePermission } from '#org/permission.ts'
import { assignmentEvent, requireParties } from './assign.ts'
import { deleteAssignment, selectAssignment } from './assignment.sql.ts'
import type { Grant } from './assignment.sql.ts'

/** Takes a role, a capability or a skill where it was given; false when it was not. Throws `not_found`. */
export async function revokeAssignment(sql: Sql, ctx: Ctx, grant: Grant): Promise<boolean> {
  requirePermission(ctx, 'org.manage')
  await lockEntities(sql, ctx, [{ type: grant.kind, id: grant.id }])
  const subject = await requireParties(sql, ctx, grant)
  const assignment = await selectAssignment(sql, ctx, grant)
  if (!assignment) return false
  await deleteAssignment(sql, ctx, assignment.id)
  await appendEvent(sql, ctx, assignmentEvent('revoked', grant, subject))
  return true
}
