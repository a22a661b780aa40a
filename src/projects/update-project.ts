import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { canonicalJson } from '#lib/json.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { requirePermission } from '#org/permission.ts'
import { requireVersion } from '#org/version.ts'
import { changedProject, checkFields, requireOpen } from './project-fields.ts'
import type { ProjectInput } from './project-fields.ts'
import { selectProject, updateProjectFields } from './project.sql.ts'
import type { ProjectFields, ProjectRow } from './project.sql.ts'

const NAMES: { readonly [F in keyof ProjectFields]: string } = {
  ownerId: 'ownerPrincipalId',
  startDate: 'startDate',
  targetDate: 'targetDate',
  settings: 'settings',
}

/**
 * Changes the fields given. Throws `not_found`, `version_conflict`, `project_archived`,
 * `secret_refused`, `invalid_request`; a patch that changes nothing writes nothing.
 */
export async function updateProject(
  sql: Sql,
  ctx: Ctx,
  patch: ProjectInput & { id: string; expectedVersion: number },
): Promise<ProjectRow> {
  requirePermission(ctx, 'projects.manage')
  const { id, expectedVersion } = patch
  refuseSecretsIn({ settings: patch.settings })
  await lockEntities(sql, ctx, [{ type: 'project', id }])
  const before = found(await selectProject(sql, ctx, id), 'project', id)
  requireVersion('project', before, expectedVersion)
  requireOpen(before)
  const fields = changedProject(before, patch)
  const changes = Object.entries(NAMES).flatMap(([key, name]) => {
    const field = key as keyof ProjectFields
    return canonicalJson(before[field]) === canonicalJson(fields[field]) ? [] : [name]
  })
  if (changes.length === 0) return before
  await checkFields(sql, ctx, fields)
  await updateProjectFields(sql, ctx, { id: before.id, ...fields })
  const after = found(await selectProject(sql, ctx, id), 'project', id)
  await appendEvent(sql, ctx, {
    type: 'project.updated',
    entityType: 'project',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: after.workspaceId,
    payload: { changes, version: after.version },
  })
  return after
}
