import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { requirePermission } from '#org/permission.ts'
import { treeEntity } from '#org/tree-lock.ts'
import { requireVersion } from '#org/version.ts'
import { requireNotWeaker } from './check-governance.ts'
import { requireOpen } from './project-fields.ts'
import { selectProject, updateActiveRevision } from './project.sql.ts'
import type { ProjectRow } from './project.sql.ts'
import { selectRevision } from './revision.sql.ts'
import type { RevisionRow } from './revision.sql.ts'

/**
 * Moves the one pointer of a project to a revision, also back to an older one. Projects nested in it
 * keep what they have, however strict this makes the rules above them; their effective rules follow at
 * once. Activating what is in force changes nothing.
 *
 * Throws `not_found`, `version_conflict`, `project_archived`, `governance_weakened`.
 */
export async function activateRevision(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; revision: number; expectedVersion: number },
): Promise<ProjectRow> {
  requirePermission(ctx, 'projects.manage')
  const { id, expectedVersion } = input
  await lockEntities(sql, ctx, [treeEntity(ctx), { type: 'project', id }])
  const project = found(await selectProject(sql, ctx, id), 'project', id)
  requireVersion('project', project, expectedVersion)
  requireOpen(project)
  const revision = found(
    await selectRevision(sql, ctx, { projectId: id, revision: input.revision }),
    'config revision',
    `${id}@${input.revision}`,
  )
  if (project.activeRevision === revision.revision) return project
  await appendEvent(sql, ctx, await putInForce(sql, ctx, { project, revision }))
  return found(await selectProject(sql, ctx, id), 'project', id)
}

/**
 * Checks and activates a revision of a locked project; the caller appends the event. Throws
 * `governance_weakened`.
 */
export async function putInForce(
  sql: Sql,
  ctx: Ctx,
  { project, revision }: { project: ProjectRow; revision: RevisionRow },
): Promise<NewEvent> {
  const { id, workspaceId, version } = project
  const given = revision.config.governance ?? {}
  await requireNotWeaker(sql, ctx, { workspaceId, given })
  await updateActiveRevision(sql, ctx, { id, activeRevision: revision.revision })
  return {
    type: 'project.config_revision_activated',
    entityType: 'project',
    entityId: id,
    entityVersion: version + 1,
    workspaceId,
    payload: { revision: revision.revision },
  }
}
