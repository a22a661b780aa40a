import { foreign, look, own } from './tenant-call.ts'
import type { Case } from './tenant-call.ts'

/** What another tenant tries on projects, their templates and their configuration. */
export const PROJECT_CASES: Readonly<Record<string, Case>> = {
  createProjectTemplate: () => [own({ body: { key: 'other', displayName: 'Other' } })],
  listProjectTemplates: (a) => [
    look(),
    look({ query: { versions: 'newest' } }),
    own({ query: { key: a.templateKey } }),
  ],
  getProjectTemplate: (a) => [foreign({ params: { id: a.template } })],
  createProject: (a, b) => [
    foreign({ body: { workspaceId: a.workspace } }),
    foreign({ body: { workspaceId: b.workspace, templateKey: a.templateKey } }),
    foreign({ body: { workspaceId: b.workspace, ownerPrincipalId: a.principal } }),
  ],
  listProjects: (a) => [
    look(),
    own({ query: { ownerPrincipalId: a.principal } }),
    foreign({ query: { workspaceId: a.root } }),
    foreign({ query: { workspaceId: a.root, includeDescendants: 'true' } }),
  ],
  getProject: (a) => [foreign({ params: { id: a.project } })],
  updateProject: (a, b) => [
    foreign({ params: { id: a.project }, ifMatch: 1, body: { settings: {} } }),
    foreign({
      params: { id: b.project },
      ifMatch: b.projectVersion,
      body: { ownerPrincipalId: a.principal },
    }),
  ],
  archiveProject: (a) => [foreign({ params: { id: a.project } })],
  listProjectTransitions: (a) => [foreign({ params: { id: a.project } })],
  transitionProject: (a) => [
    foreign({ params: { id: a.project }, ifMatch: 1, body: { statusKey: 'active' } }),
  ],
  getProjectConfig: (a) => [foreign({ params: { id: a.project } })],
  getProjectScope: (a) => [foreign({ params: { id: a.project } })],
  createConfigRevision: (a) => [foreign({ params: { id: a.project }, body: { config: {} } })],
  listConfigRevisions: (a) => [foreign({ params: { id: a.project } })],
  getConfigRevision: (a) => [foreign({ params: { id: a.project, revision: '1' } })],
  activateConfigRevision: (a) => [
    foreign({ params: { id: a.project, revision: '1' }, ifMatch: 1 }),
  ],
}
