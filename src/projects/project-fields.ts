import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { selectPrincipal } from '#org/principal.sql.ts'
import type { ProjectFields, ProjectRow } from './project.sql.ts'

/** What a caller may send of a project; absent fields stay as they are. */
export interface ProjectInput {
  ownerPrincipalId?: string | null | undefined
  startDate?: string | null | undefined
  targetDate?: string | null | undefined
  settings?: ProjectFields['settings'] | undefined
}

export const NO_FIELDS: ProjectFields = {
  ownerId: null,
  startDate: null,
  targetDate: null,
  settings: {},
}

export function changedProject(before: ProjectFields, input: ProjectInput): ProjectFields {
  const { ownerPrincipalId = before.ownerId, startDate = before.startDate } = input
  const { targetDate = before.targetDate, settings = before.settings } = input
  return { ownerId: ownerPrincipalId, startDate, targetDate, settings }
}

/**
 * Throws `not_found` for an owner whom the tenant does not have, `invalid_request` for a project that
 * would end before it begins.
 */
export async function checkFields(
  sql: Sql,
  ctx: Ctx,
  { ownerId, startDate, targetDate }: ProjectFields,
): Promise<void> {
  if (ownerId !== null) found(await selectPrincipal(sql, ctx, ownerId), 'principal', ownerId)
  if (startDate === null || targetDate === null || startDate <= targetDate) return
  const message = 'must not be before startDate'
  throw new AppError('invalid_request', `Cannot keep the project: targetDate ${message}`, {
    details: { errors: [{ loc: 'body.targetDate', message }] },
  })
}

/** Throws `project_archived` unless the project may still change. */
export function requireOpen(project: ProjectRow): void {
  if (project.status === 'active') return
  throw new AppError('project_archived', `Cannot change project "${project.id}": it is archived`, {
    details: { projectId: project.id },
  })
}
