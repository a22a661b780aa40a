import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { requirePermission } from '#org/permission.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import { selectAncestors } from '#org/workspace.sql.ts'
import { insertAssignment, selectAssignment, selectSkillSubject } from './assignment.sql.ts'
import type { AssignmentRow, Grant } from './assignment.sql.ts'
import { selectCapability } from './capability.sql.ts'
import { selectRole } from './role.sql.ts'

/**
 * Gives a role, a capability or a skill to a principal, everywhere it is known or in a workspace and what is
 * below it; `isNew` is false when the principal has it there already. It makes eligible, it grants no right.
 *
 * Throws `not_found`, and `assignment_outside_role` for a workspace that the role is not known in.
 */
export async function assign(
  sql: Sql,
  ctx: Ctx,
  grant: Grant,
): Promise<{ assignment: AssignmentRow; isNew: boolean }> {
  requirePermission(ctx, 'org.manage')
  await lockEntities(sql, ctx, [{ type: grant.kind, id: grant.id }])
  const subject = await requireParties(sql, ctx, grant)
  const inserted = await insertAssignment(sql, ctx, { ...grant, assignmentId: newId() })
  if (inserted) await appendEvent(sql, ctx, assignmentEvent('assigned', grant, subject))
  const existing = inserted ?? (await selectAssignment(sql, ctx, grant))
  return { assignment: found(existing, 'assignment', grant.id), isNew: inserted !== undefined }
}

/** A role, capability or skill as far as an assignment of it has to know. */
export interface Subject {
  version: number
  /** Where it is known; null: everywhere. */
  workspaceId: string | null
}

/** What is given, when everything that the grant names is there. Throws as `assign` does. */
export async function requireParties(sql: Sql, ctx: Ctx, grant: Grant): Promise<Subject> {
  const { principalId, workspaceId } = grant
  const subject = await subjectOf(sql, ctx, grant)
  found(await selectPrincipal(sql, ctx, principalId), 'principal', principalId)
  if (workspaceId !== null) await checkPlace(sql, ctx, { workspaceId, within: subject.workspaceId })
  return subject
}

async function subjectOf(
  sql: Sql,
  ctx: Tenancy,
  { kind, id }: Pick<Grant, 'kind' | 'id'>,
): Promise<Subject> {
  if (kind === 'role') return found(await selectRole(sql, ctx, id), 'role', id)
  const select = kind === 'skill' ? selectSkillSubject : selectCapability
  const { version } = found(await select(sql, ctx, id), kind, id)
  return { version, workspaceId: null }
}

async function checkPlace(
  sql: Sql,
  ctx: Tenancy,
  { workspaceId, within }: { workspaceId: string; within: string | null },
): Promise<void> {
  const line = await selectAncestors(sql, ctx, workspaceId)
  found(line[0], 'workspace', workspaceId)
  if (within === null || line.some(({ id }) => id === within)) return
  throw new AppError(
    'assignment_outside_role',
    `Cannot assign the role in workspace "${workspaceId}": it is not known there`,
    { details: { workspaceId, roleWorkspaceId: within } },
  )
}

/** The journal row of a grant given or taken; it stands where the grant holds. */
export function assignmentEvent(
  change: 'assigned' | 'revoked',
  { kind, id, principalId, workspaceId }: Grant,
  subject: Subject,
): NewEvent {
  const common = {
    entityType: kind,
    entityId: id,
    entityVersion: subject.version,
    workspaceId: workspaceId ?? subject.workspaceId,
  }
  const given = { principalId, workspaceId }
  if (kind === 'role')
    return { ...common, type: `role.${change}`, payload: { roleId: id, ...given } }
  return kind === 'skill'
    ? { ...common, type: `skill.${change}`, payload: { skillId: id, ...given } }
    : { ...common, type: `capability.${change}`, payload: { capabilityId: id, ...given } }
}
