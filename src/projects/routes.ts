import type { Hono } from 'hono'
import * as revisions from '#contract/config-revisions.ts'
import * as templates from '#contract/project-templates.ts'
import * as projects from '#contract/projects.ts'
import { moveWorkspace as moveWorkspaceRoute } from '#contract/workspaces.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import { bind } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import type { Ctx } from '#lib/ctx.ts'
import { found } from '#lib/errors.ts'
import { moveWorkspace } from '#org/move-workspace.ts'
import { workspaceReply } from '#org/replies.ts'
import { workspacesOf } from '#org/workspaces-of.ts'
import { activateRevision } from './activate-revision.ts'
import { archiveProject } from './archive-project.ts'
import { checkMovedGovernance } from './check-governance.ts'
import { createProject } from './create-project.ts'
import { createRevision } from './create-revision.ts'
import { createTemplate } from './create-template.ts'
import { selectProjectScope } from './layers.sql.ts'
import { selectProject, selectProjects } from './project.sql.ts'
import type { ProjectRow } from './project.sql.ts'
import { readEffective } from './read-governance.ts'
import { projectReply, revisionReply, templateReply } from './replies.ts'
import { selectRevision, selectRevisions } from './revision.sql.ts'
import { selectTemplate, selectTemplates } from './template.sql.ts'
import { targetsOfProject, transitionProject } from './transition-project.ts'
import { updateProject } from './update-project.ts'

/** Projects, their templates and configuration, and the move of a workspace, which their rules guard. */
export function projectsRoutes(app: Hono, deps: Deps): void {
  bindTemplates(app, deps)
  bindProjects(app, deps)
  bindProjectViews(app, deps)
  bindRevisions(app, deps)

  bind(app, deps, moveWorkspaceRoute, async (sql, ctx, { params, body }) =>
    workspaceReply(await moveWorkspace(sql, ctx, { ...params, ...body }, checkMovedGovernance)),
  )
}

function bindTemplates(app: Hono, deps: Deps): void {
  bind(app, deps, templates.createProjectTemplate, async (sql, ctx, { body }) =>
    templateReply(await createTemplate(sql, ctx, body)),
  )

  bind(app, deps, templates.listProjectTemplates, async (sql, ctx, { query }) => {
    const { key, versions } = query
    const page = pageRequest(`project-templates?${JSON.stringify({ key, versions })}`, query)
    const filter = { page, key, newestOnly: versions === 'newest' }
    return pageOf(page, await selectTemplates(sql, ctx, filter), templateReply)
  })

  bind(app, deps, templates.getProjectTemplate, async (sql, ctx, { params: { id } }) =>
    templateReply(found(await selectTemplate(sql, ctx, id), 'project template', id)),
  )
}

function bindProjects(app: Hono, deps: Deps): void {
  bind(app, deps, projects.createProject, async (sql, ctx, { body }) =>
    projectReply(await createProject(sql, ctx, body)),
  )

  bind(app, deps, projects.listProjects, async (sql, ctx, { query }) => {
    const { limit: _, cursor: __, ...narrowing } = query
    const page = pageRequest(`projects?${JSON.stringify(narrowing)}`, query)
    const { status, systemStatusCategory: statusCategory, ownerPrincipalId: ownerId } = query
    const workspaceIds = await workspacesOf(sql, ctx, query)
    const filter = { page, status, statusCategory, ownerId, workspaceIds }
    return pageOf(page, await selectProjects(sql, ctx, filter), projectReply)
  })

  bind(app, deps, projects.getProject, async (sql, ctx, { params: { id } }) =>
    projectReply(await projectOf(sql, ctx, id)),
  )

  bind(app, deps, projects.updateProject, async (sql, ctx, { params, body, expectedVersion }) =>
    projectReply(await updateProject(sql, ctx, { ...params, ...body, expectedVersion })),
  )

  bind(app, deps, projects.archiveProject, async (sql, ctx, { params }) =>
    projectReply(await archiveProject(sql, ctx, params)),
  )

  bind(app, deps, projects.transitionProject, async (sql, ctx, { params, body, expectedVersion }) =>
    projectReply(await transitionProject(sql, ctx, { ...params, ...body, expectedVersion })),
  )
}

function bindProjectViews(app: Hono, deps: Deps): void {
  bind(app, deps, projects.listProjectTransitions, async (sql, ctx, { params: { id } }) => {
    const project = await projectOf(sql, ctx, id)
    const { statusKey, statusCategory: systemStatusCategory, version } = project
    const items = await targetsOfProject(sql, ctx, project)
    return { projectId: project.id, statusKey, systemStatusCategory, items, version }
  })

  bind(app, deps, projects.getProjectConfig, async (sql, ctx, { params }) => {
    const { id, workspaceId, activeRevision, version } = await projectOf(sql, ctx, params.id)
    const { config, provenance } = await readEffective(sql, ctx, workspaceId)
    const inForce = { effectiveConfig: config, configProvenance: provenance }
    return { projectId: id, activeRevision, ...inForce, version }
  })

  bind(app, deps, projects.getProjectScope, async (sql, ctx, { params, query }) => {
    const { id, workspaceId } = await projectOf(sql, ctx, params.id)
    const workspaceIds = await selectProjectScope(sql, ctx, { workspaceId, ...query })
    return { projectId: id, workspaceIds }
  })
}

function bindRevisions(app: Hono, deps: Deps): void {
  bind(app, deps, revisions.createConfigRevision, async (sql, ctx, { params, body }) =>
    revisionReply(await createRevision(sql, ctx, { ...params, ...body })),
  )

  bind(app, deps, revisions.listConfigRevisions, async (sql, ctx, { params, query }) => {
    const { id: projectId } = await projectOf(sql, ctx, params.id)
    const page = pageRequest(`config-revisions/${projectId}`, query)
    return pageOf(page, await selectRevisions(sql, ctx, { projectId, page }), revisionReply)
  })

  bind(app, deps, revisions.getConfigRevision, async (sql, ctx, { params }) => {
    const { id: projectId } = await projectOf(sql, ctx, params.id)
    const { revision } = params
    const row = await selectRevision(sql, ctx, { projectId, revision })
    return revisionReply(found(row, 'config revision', `${projectId}@${revision}`))
  })

  bind(app, deps, revisions.activateConfigRevision, async (sql, ctx, input) => {
    const { params, expectedVersion } = input
    return projectReply(await activateRevision(sql, ctx, { ...params, expectedVersion }))
  })
}

async function projectOf(sql: Sql, ctx: Ctx, id: string): Promise<ProjectRow> {
  return found(await selectProject(sql, ctx, id), 'project', id)
}
