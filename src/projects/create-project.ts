import type { NewEvent } from '#contract/events.ts'
import type { ProjectConfig } from '#contract/project-config.ts'
import { isPgError, PG } from '#db/sql.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError, found } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { refuseSecretsIn } from '#lib/refuse-secrets.ts'
import { requirePermission } from '#org/permission.ts'
import { treeEntity } from '#org/tree-lock.ts'
import { selectWorkspace } from '#org/workspace.sql.ts'
import { requireActive } from '#org/workspace.ts'
import { putInForce } from './activate-revision.ts'
import { addRevision } from './create-revision.ts'
import { BUILT_IN_LIFECYCLE, statusOf } from './lifecycle.ts'
import { changedProject, checkFields, NO_FIELDS } from './project-fields.ts'
import type { ProjectInput } from './project-fields.ts'
import { insertProject, selectProject } from './project.sql.ts'
import type { ProjectRow } from './project.sql.ts'
import { selectTemplateVersion } from './template.sql.ts'

export interface NewProject extends ProjectInput {
  workspaceId: string
  templateKey?: string | undefined
  templateVersion?: number | undefined
  config?: ProjectConfig | undefined
}

/**
 * Makes a workspace a project. What the template asks for is only a start: where it is weaker than an
 * ancestor, the ancestor holds; a first revision that is weaker is refused.
 *
 * Throws `not_found`, `workspace_archived`, `project_exists`, `governance_weakened`, `secret_refused`,
 * `invalid_request`.
 */
export async function createProject(sql: Sql, ctx: Ctx, input: NewProject): Promise<ProjectRow> {
  requirePermission(ctx, 'projects.manage')
  const { config } = input
  refuseSecretsIn({ settings: input.settings, config })
  const id = newId()
  await lockEntities(sql, ctx, [
    treeEntity(ctx),
    { type: 'workspace', id: input.workspaceId },
    { type: 'project', id },
  ])
  const workspace = await selectWorkspace(sql, ctx, input.workspaceId)
  requireActive(found(workspace, 'workspace', input.workspaceId))
  await insertNew(sql, ctx, { ...input, id })
  const project = found(await selectProject(sql, ctx, id), 'project', id)
  const events = [created(project)]
  if (config) {
    const added = await addRevision(sql, ctx, { project, config, comment: null })
    events.push(added.event, await putInForce(sql, ctx, { project, revision: added.revision }))
  }
  await appendEvents(sql, ctx, events)
  return found(await selectProject(sql, ctx, id), 'project', id)
}

async function insertNew(sql: Sql, ctx: Ctx, input: NewProject & { id: string }): Promise<void> {
  const { id, workspaceId, templateKey, templateVersion: version } = input
  const fields = changedProject(NO_FIELDS, input)
  await checkFields(sql, ctx, fields)
  const template =
    templateKey === undefined
      ? undefined
      : found(
          await selectTemplateVersion(sql, ctx, { key: templateKey, version }),
          'project template',
          version === undefined ? templateKey : `${templateKey}@${version}`,
        )
  const lifecycle = template?.lifecycle ?? BUILT_IN_LIFECYCLE
  const { statusKey, systemStatusCategory } = statusOf(lifecycle, lifecycle.initialStatus)
  await insertProject(sql, ctx, {
    ...fields,
    id,
    workspaceId,
    templateKey: template?.key ?? null,
    templateVersion: template?.version ?? null,
    statusKey,
    statusCategory: systemStatusCategory,
  }).catch((cause: unknown) => {
    if (!isPgError(cause, PG.uniqueViolation, 'one_project_per_workspace')) throw cause
    throw new AppError(
      'project_exists',
      `Cannot make workspace "${workspaceId}" a project: it is one`,
      { details: { workspaceId }, cause },
    )
  })
}

function created(project: ProjectRow): NewEvent {
  const { workspaceId, parentProjectId, templateKey, templateVersion, statusKey } = project
  return {
    type: 'project.created',
    entityType: 'project',
    entityId: project.id,
    entityVersion: project.version,
    workspaceId,
    payload: {
      workspaceId,
      parentProjectId,
      templateKey,
      templateVersion,
      statusKey,
      systemStatusCategory: project.statusCategory,
    },
  }
}
