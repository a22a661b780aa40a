import type { NewEvent } from '#contract/events.ts'
import type { ProjectConfig } from '#contract/project-config.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { requirePermission } from '#org/permission.ts'
import { requireOpen } from './project-fields.ts'
import { selectProject } from './project.sql.ts'
import type { ProjectRow } from './project.sql.ts'
import { insertRevision } from './revision.sql.ts'
import type { RevisionRow } from './revision.sql.ts'

/**
 * Writes down a configuration that is not in force yet, so whether its rules are strict enough is asked
 * when it is activated. Throws `not_found`, `project_archived`, `secret_refused`.
 */
export async function createRevision(
  sql: Sql,
  ctx: Ctx,
  input: { id: string; config: ProjectConfig; comment?: string | undefined },
): Promise<RevisionRow> {
  requirePermission(ctx, 'projects.manage')
  const { id, config, comment = null } = input
  refuseSecretsIn({ config, comment })
  await lockEntities(sql, ctx, [{ type: 'project', id }])
  const project = found(await selectProject(sql, ctx, id), 'project', id)
  requireOpen(project)
  const { revision, event } = await addRevision(sql, ctx, { project, config, comment })
  await appendEvent(sql, ctx, event)
  return revision
}

/** Adds the next revision of a locked project; the caller appends the event. */
export async function addRevision(
  sql: Sql,
  ctx: Ctx,
  input: { project: ProjectRow; config: ProjectConfig; comment: string | null },
): Promise<{ revision: RevisionRow; event: NewEvent }> {
  const { project, config, comment } = input
  const row = { id: newId(), projectId: project.id, config, comment }
  const revision = await insertRevision(sql, ctx, row)
  const event: NewEvent = {
    type: 'project.config_revision_created',
    entityType: 'project_config_revision',
    entityId: revision.id,
    entityVersion: 1,
    workspaceId: project.workspaceId,
    payload: { projectId: project.id, revision: revision.revision },
  }
  return { revision, event }
}
