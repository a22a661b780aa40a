import * as revisions from '#contract/config-revisions.ts'
import { createProjectTemplate } from '#contract/project-templates.ts'
import * as projects from '#contract/projects.ts'
import type { Walk } from './walk.ts'

/** Makes a workspace a project and lets it live; where it stands is told, how it is configured is kept. */
export async function walkProject({ make, told, kept }: Walk, workspaceId: string): Promise<void> {
  const template = await make(createProjectTemplate, {
    body: {
      key: told('key of a project template'),
      displayName: told('name of a project template'),
      description: kept('description of a project template'),
      config: { agentInstructions: kept('instructions of a template') },
    },
  })
  const project = await make(projects.createProject, {
    body: {
      workspaceId,
      templateKey: template.key,
      settings: { note: kept('setting of a project') },
      config: { note: kept('configuration of a project'), governance: { maxRunActions: 100 } },
    },
  })
  const params = { id: project.id }
  await make(revisions.createConfigRevision, {
    params,
    body: {
      config: { agentInstructions: kept('instructions of a project') },
      comment: kept('comment of a revision'),
    },
  })
  const updated = await make(projects.updateProject, {
    params,
    ifMatch: project.version,
    body: { settings: { note: kept('later setting of a project') } },
  })
  await make(projects.transitionProject, {
    params,
    ifMatch: updated.version,
    body: { statusKey: 'active', comment: told('comment of a status of a project') },
  })
  await make(projects.archiveProject, { params })
}
