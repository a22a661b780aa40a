import { createConfigRevision, activateConfigRevision } from '#contract/config-revisions.ts'
import * as templates from '#contract/project-templates.ts'
import * as projects from '#contract/projects.ts'
import { createWorkspace } from '#contract/workspaces.ts'
import type { ErrorCode } from '#lib/errors.ts'
import { ask } from './scene.ts'
import type { ErrorCase, Scene } from './scene.ts'

async function place({ make }: Scene, slug: string, parentId: string | null = null) {
  return (await make(createWorkspace, { body: { slug, name: slug, parentId } })).id
}

async function project(scene: Scene, slug: string, more: object = {}, parentId?: string) {
  const workspaceId = await place(scene, slug, parentId)
  return await scene.make(projects.createProject, { body: { workspaceId, ...more } })
}

/** Projects, their templates and their rules. */
export const ofProjects = {
  project_exists: async (scene) => {
    const { workspaceId } = await project(scene, 'app')
    return ask(scene.admin, projects.createProject, { body: { workspaceId } })
  },
  project_archived: async (scene) => {
    const { id } = await project(scene, 'app')
    await scene.make(projects.archiveProject, { params: { id }, ifMatch: 1 })
    return ask(scene.admin, createConfigRevision, { params: { id }, body: { config: {} } })
  },
  invalid_lifecycle: ({ admin }) =>
    ask(admin, templates.createProjectTemplate, {
      body: {
        key: 'kanban',
        displayName: 'Kanban',
        lifecycle: {
          statuses: [{ key: 'open', category: 'active' }],
          transitions: [{ from: 'open', to: 'gone' }],
          initialStatus: 'open',
        },
      } as never,
    }),
  unknown_governance_field: async (scene) => {
    const { id } = await project(scene, 'app')
    const config = { governance: { maxRuns: 1 } }
    return ask(scene.admin, createConfigRevision, {
      params: { id },
      body: { config },
    })
  },
  governance_not_in_settings: async (scene) => {
    const { id } = await project(scene, 'app')
    const settings = { governance: { maxConcurrentRuns: 1 } }
    return ask(scene.admin, projects.updateProject, {
      params: { id },
      ifMatch: 1,
      body: { settings },
    })
  },
  governance_weakened: async (scene) => {
    const config = { governance: { maxConcurrentRuns: 1 } }
    const above = await project(scene, 'above', { config })
    const { id } = await project(scene, 'below', {}, above.workspaceId)
    const weaker = { config: { governance: { maxConcurrentRuns: 5 } } }
    const { revision } = await scene.make(createConfigRevision, { params: { id }, body: weaker })
    const { version } = await scene.make(projects.getProject, { params: { id } })
    return ask(scene.admin, activateConfigRevision, {
      params: { id, revision: String(revision) },
      ifMatch: version,
    })
  },
} as const satisfies Partial<Record<ErrorCode, ErrorCase>>
