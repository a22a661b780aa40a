import { z } from 'zod'
import { Id, page, pageQuery, text, UtcInstant } from './common.ts'
import { ProjectConfig } from './project-config.ts'
import { Project } from './projects.ts'
import { route } from './route.ts'

export const ConfigRevision = z
  .strictObject({
    id: z.uuid(),
    projectId: z.uuid(),
    /** 1 for the first of the project. */
    revision: z.int().positive(),
    config: ProjectConfig,
    comment: z.string().nullable(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'ConfigRevision' })
export type ConfigRevision = z.infer<typeof ConfigRevision>

const byId = z.strictObject({ id: Id })
const byRevision = z.strictObject({
  id: Id,
  revision: z
    .string()
    .regex(/^[1-9]\d{0,8}$/, 'must be a revision')
    .transform(Number),
})
const tag = 'Projects'

export const createConfigRevision = route({
  method: 'POST',
  path: '/api/v1/projects/{id}/config-revisions',
  summary: 'Write down a configuration; nothing changes until it is activated',
  tag,
  access: 'projects.manage',
  statuses: [201],
  errors: ['not_found', 'project_archived', 'unknown_governance_field', 'secret_refused'],
  params: byId,
  body: z.strictObject({ config: ProjectConfig, comment: text(2000).optional() }),
  reply: ConfigRevision,
})

export const listConfigRevisions = route({
  method: 'GET',
  path: '/api/v1/projects/{id}/config-revisions',
  summary: 'Config revisions of a project, newest first',
  tag,
  access: 'projects.read',
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(ConfigRevision),
})

export const getConfigRevision = route({
  method: 'GET',
  path: '/api/v1/projects/{id}/config-revisions/{revision}',
  summary: 'One config revision',
  tag,
  access: 'projects.read',
  errors: ['not_found'],
  params: byRevision,
  reply: ConfigRevision,
})

export const activateConfigRevision = route({
  method: 'POST',
  path: '/api/v1/projects/{id}/config-revisions/{revision}:activate',
  summary:
    'Put a config revision in force; its rules may not be weaker than those of the ancestors',
  tag,
  access: 'projects.manage',
  errors: [
    'not_found',
    'version_conflict',
    'if_match_required',
    'invalid_if_match',
    'project_archived',
    'governance_weakened',
  ],
  etag: 'project',
  ifMatch: 'project',
  params: byRevision,
  reply: Project,
})

export const routes = {
  createConfigRevision,
  listConfigRevisions,
  getConfigRevision,
  activateConfigRevision,
}
