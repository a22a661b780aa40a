import { z } from 'zod'
import { Id, page, pageQuery, text, UtcInstant } from './common.ts'
import { ProjectConfig } from './project-config.ts'
import { route } from './route.ts'
import { StatusCategory } from './task-types.ts'

export const ProjectStatusKey = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'must be 1 to 64 of a-z, 0-9 and _, beginning with a letter')

export const TemplateKey = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,62}$/,
    'must be 1 to 63 of a-z, 0-9, _ and -, beginning with a-z or 0-9',
  )

export const TemplateVersion = z.int().min(1).max(2_147_483_647)

/** How the projects of a template move. */
export const ProjectLifecycle = z
  .strictObject({
    statuses: z
      .array(
        z.strictObject({
          key: ProjectStatusKey,
          category: StatusCategory,
          displayName: text(200).optional(),
        }),
      )
      .min(1)
      .max(100),
    /** Every move that can be made. */
    transitions: z
      .array(z.strictObject({ from: ProjectStatusKey, to: ProjectStatusKey }))
      .max(1000),
    initialStatus: ProjectStatusKey,
  })
  .meta({ id: 'ProjectLifecycle' })
export type ProjectLifecycle = z.output<typeof ProjectLifecycle>

const parts = {
  key: TemplateKey,
  displayName: text(200),
  description: z.string().max(10_000),
  config: ProjectConfig,
}

export const ProjectTemplate = z
  .strictObject({
    id: z.uuid(),
    ...parts,
    version: TemplateVersion,
    lifecycle: ProjectLifecycle,
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'ProjectTemplate' })
export type ProjectTemplate = z.infer<typeof ProjectTemplate>

const tag = 'Projects'

export const createProjectTemplate = route({
  method: 'POST',
  path: '/api/v1/project-templates',
  summary: 'Add the next version of a project template; a version never changes',
  tag,
  access: 'project_templates.manage',
  statuses: [201],
  errors: ['invalid_lifecycle', 'unknown_governance_field', 'secret_refused'],
  body: z.strictObject({
    ...parts,
    description: parts.description.default(''),
    config: parts.config.default({}),
    /** Without it projects are planned, active, paused, completed or cancelled. */
    lifecycle: ProjectLifecycle.optional(),
  }),
  reply: ProjectTemplate,
})

export const listProjectTemplates = route({
  method: 'GET',
  path: '/api/v1/project-templates',
  summary: 'Versions of project templates, newest first',
  tag,
  access: 'project_templates.read',
  errors: ['invalid_limit', 'invalid_cursor'],
  query: z.strictObject({
    ...pageQuery,
    key: TemplateKey.optional(),
    /** `newest` leaves out every version that has a later one. */
    versions: z.enum(['all', 'newest']).default('all'),
  }),
  reply: page(ProjectTemplate),
})

export const getProjectTemplate = route({
  method: 'GET',
  path: '/api/v1/project-templates/{id}',
  summary: 'One version of a project template',
  tag,
  access: 'project_templates.read',
  errors: ['not_found'],
  params: z.strictObject({ id: Id }),
  reply: ProjectTemplate,
})

export const routes = { createProjectTemplate, listProjectTemplates, getProjectTemplate }
