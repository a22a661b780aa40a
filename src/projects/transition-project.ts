import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { requirePermission } from '#org/permission.ts'
import { requireVersion } from '#org/version.ts'
import { BUILT_IN_LIFECYCLE, targetsOf } from './lifecycle.ts'
import type { Target } from './lifecycle.ts'
import { requireOpen } from './project-fields.ts'
import { selectLifecycle, selectProject, updateProjectStatus } from './project.sql.ts'
import type { ProjectRow } from './project.sql.ts'

/**
 * Moves a project to a status that its lifecycle leads to from where it is. Throws `not_found`,
 * `version_conflict`, `project_archived`, `invalid_transition` with `details.allowed`, `secret_refused`.
 */
export async function transitionProject(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; statusKey: string; comment?: string | undefined; expectedVersion: number },
): Promise<ProjectRow> {
  requirePermission(ctx, 'projects.manage')
  const { id, statusKey, comment = null, expectedVersion } = input
  refuseSecretsIn({ comment })
  await lockEntities(sql, ctx, [{ type: 'project', id }])
  const before = found(await selectProject(sql, ctx, id), 'project', id)
  requireVersion('project', before, expectedVersion)
  requireOpen(before)
  const targets = await targetsOfProject(sql, ctx, before)
  const target = targets.find((one) => one.statusKey === statusKey)
  if (!target) throw invalidTransition(before, statusKey, targets)
  const { systemStatusCategory } = target
  await updateProjectStatus(sql, ctx, {
    id: before.id,
    statusKey,
    statusCategory: systemStatusCategory,
    status: before.status,
  })
  const after = found(await selectProject(sql, ctx, id), 'project', id)
  await appendEvent(sql, ctx, {
    type: 'project.status_changed',
    entityType: 'project',
    entityId: after.id,
    entityVersion: after.version,
    workspaceId: after.workspaceId,
    payload: { fromStatusKey: before.statusKey, statusKey, systemStatusCategory, comment },
  })
  return after
}

/** Where the status of a project can go from here; nowhere once it is archived. */
export async function targetsOfProject(sql: Sql, ctx: Ctx, project: ProjectRow): Promise<Target[]> {
  if (project.status === 'archived') return []
  const lifecycle = await selectLifecycle(sql, ctx, project.id)
  return targetsOf(lifecycle ?? BUILT_IN_LIFECYCLE, project.statusKey)
}

function invalidTransition(
  project: ProjectRow,
  statusKey: string,
  targets: readonly Target[],
): AppError {
  const { id, statusKey: from } = project
  return new AppError(
    'invalid_transition',
    `Cannot move project "${id}" from ${from} to ${statusKey}`,
    { details: { from, to: statusKey, allowed: targets.map((target) => target.statusKey) } },
  )
}
