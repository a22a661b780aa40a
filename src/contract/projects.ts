import { z } from 'zod'
import { Day, Id, page, pageQuery, queryBool, text, UtcInstant } from './common.ts'
import {
  ConfigProvenance,
  EffectiveConfig,
  ProjectConfig,
  ProjectSettings,
} from './project-config.ts'
import { ProjectStatusKey, TemplateKey, TemplateVersion } from './project-templates.ts'
import { route } from './route.ts'
import { StatusCategory } from './task-types.ts'

export const ProjectRecordStatus = z.enum(['active', 'archived'])
export type ProjectRecordStatus = z.infer<typeof ProjectRecordStatus>

/** What a project is and where it stands; decide by the category, not by the key. */
export const projectIdentity = {
  id: z.uuid(),
  workspaceId: z.uuid(),
  /** That of the nearest workspace above which has one. */
  parentProjectId: z.uuid().nullable(),
  /** Null for a project that follows no template. */
  templateKey: z.string().nullable(),
  templateVersion: z.int().nullable(),
  statusKey: z.string(),
  systemStatusCategory: StatusCategory,
  status: ProjectRecordStatus,
  ownerPrincipalId: z.uuid().nullable(),
  startDate: z.string().nullable(),
  targetDate: z.string().nullable(),
  version: z.int().positive(),
}

export type ProjectIdentity = z.infer<z.ZodObject<typeof projectIdentity>>

export const Project = z
  .strictObject({
    ...projectIdentity,
    /** The name of its workspace. */
    name: z.string(),
    settings: ProjectSettings,
    /** The config revision in force. */
    activeRevision: z.int().nullable(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
    updatedAt: UtcInstant,
  })
  .meta({ id: 'Project' })
export type Project = z.infer<typeof Project>

const fields = {
  ownerPrincipalId: Id.nullable(),
  startDate: Day.nullable(),
  targetDate: Day.nullable(),
  settings: ProjectSettings,
}

const byId = z.strictObject({ id: Id })
const tag = 'Projects'
const changed = ['not_found', 'version_conflict', 'if_match_required', 'invalid_if_match'] as const

export const createProject = route({
  method: 'POST',
  path: '/api/v1/projects',
  summary: 'Make a workspace a project',
  tag,
  access: 'projects.manage',
  statuses: [201],
  errors: [
    'not_found',
    'project_exists',
    'workspace_archived',
    'governance_weakened',
    'governance_not_in_settings',
    'unknown_governance_field',
    'secret_refused',
  ],
  etag: 'project',
  body: z
    .strictObject({
      ...z.strictObject(fields).partial().shape,
      workspaceId: Id,
      templateKey: TemplateKey.optional(),
      /** The newest unless given. */
      templateVersion: TemplateVersion.optional(),
      /** The first config revision, in force at once. */
      config: ProjectConfig.optional(),
    })
    .refine(
      (body) => body.templateVersion === undefined || body.templateKey !== undefined,
      'must have templateKey with templateVersion',
    ),
  reply: Project,
})

export const listProjects = route({
  method: 'GET',
  path: '/api/v1/projects',
  summary: 'Projects, newest first',
  tag,
  access: 'projects.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  query: z.strictObject({
    ...pageQuery,
    status: ProjectRecordStatus.optional(),
    systemStatusCategory: StatusCategory.optional(),
    ownerPrincipalId: Id.optional(),
    workspaceId: Id.optional(),
    /** With `workspaceId`: also projects of the workspaces below it. */
    includeDescendants: queryBool.optional(),
  }),
  reply: page(Project),
})

export const getProject = route({
  method: 'GET',
  path: '/api/v1/projects/{id}',
  summary: 'One project',
  tag,
  access: 'projects.read',
  errors: ['not_found'],
  etag: 'project',
  params: byId,
  reply: Project,
})

export const updateProject = route({
  method: 'PATCH',
  path: '/api/v1/projects/{id}',
  summary: 'Change the owner, the dates or the settings of a project; settings as a whole',
  tag,
  access: 'projects.manage',
  errors: [...changed, 'project_archived', 'governance_not_in_settings', 'secret_refused'],
  etag: 'project',
  ifMatch: 'project',
  params: byId,
  body: z.strictObject(fields).partial(),
  reply: Project,
})

export const archiveProject = route({
  method: 'POST',
  path: '/api/v1/projects/{id}:archive',
  summary: 'Close a project; its rules go on to hold. Archiving it again changes nothing',
  tag,
  access: 'projects.manage',
  errors: ['not_found'],
  etag: 'project',
  params: byId,
  reply: Project,
})

const Target = z.strictObject({
  statusKey: z.string(),
  systemStatusCategory: StatusCategory,
  displayName: z.string().nullable(),
})

export const listProjectTransitions = route({
  method: 'GET',
  path: '/api/v1/projects/{id}/transitions',
  summary: 'Where the status of a project can go from here',
  tag,
  access: 'projects.read',
  errors: ['not_found'],
  etag: 'project',
  params: byId,
  reply: z
    .strictObject({
      projectId: z.uuid(),
      statusKey: z.string(),
      systemStatusCategory: StatusCategory,
      items: z.array(Target),
      version: z.int(),
    })
    .meta({ id: 'ProjectTransitions' }),
})

export const transitionProject = route({
  method: 'POST',
  path: '/api/v1/projects/{id}:transition',
  summary: 'Move a project to another status that its lifecycle leads to',
  tag,
  access: 'projects.manage',
  errors: [...changed, 'project_archived', 'invalid_transition', 'secret_refused'],
  etag: 'project',
  ifMatch: 'project',
  params: byId,
  body: z.strictObject({ statusKey: ProjectStatusKey, comment: text(2000).optional() }),
  reply: Project,
})

export const getProjectConfig = route({
  method: 'GET',
  path: '/api/v1/projects/{id}/config',
  summary: 'What is in force for a project, and which layer set each key',
  tag,
  access: 'projects.read',
  errors: ['not_found'],
  etag: 'project',
  params: byId,
  reply: z
    .strictObject({
      projectId: z.uuid(),
      activeRevision: z.int().nullable(),
      effectiveConfig: EffectiveConfig,
      configProvenance: ConfigProvenance,
      /** Of the project; an ancestor's change does not move it. */
      version: z.int(),
    })
    .meta({ id: 'ProjectEffectiveConfig' }),
})

export const getProjectScope = route({
  method: 'GET',
  path: '/api/v1/projects/{id}/scope',
  summary: 'The workspaces of a project: its own and those below that belong to no nested project',
  tag,
  access: 'projects.read',
  errors: ['not_found'],
  params: byId,
  query: z.strictObject({
    /** The whole subtree, nested projects included. */
    includeSubprojects: queryBool.default(false),
  }),
  reply: z
    .strictObject({ projectId: z.uuid(), workspaceIds: z.array(z.uuid()) })
    .meta({ id: 'ProjectScope' }),
})

export const routes = {
  createProject,
  listProjects,
  getProject,
  updateProject,
  archiveProject,
  listProjectTransitions,
  transitionProject,
  getProjectConfig,
  getProjectScope,
}
