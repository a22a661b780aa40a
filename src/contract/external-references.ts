import { z } from 'zod'
import { Id, page, pageQuery, TaskRef, text, UtcInstant } from './common.ts'
import { route } from './route.ts'

export const REFERENCED = ['task', 'workspace', 'artifact'] as const
export const Referenced = z.enum(REFERENCED)
export type Referenced = z.infer<typeof Referenced>

const key = {
  /** Where it has the name: `github`, `jira`. */
  system: text(100),
  /** What it is there: `issue`, `pull_request`. */
  type: text(100),
  /** Its name there. */
  externalId: text(500),
}

export const NewExternalReference = z
  .strictObject({
    ...key,
    url: z
      .url({ protocol: /^https?$/ })
      .max(2000)
      .optional(),
  })
  .meta({ id: 'NewExternalReference' })
export type NewExternalReference = z.output<typeof NewExternalReference>

export const ExternalReference = z
  .strictObject({
    id: z.uuid(),
    ...key,
    url: z.string().nullable(),
    entityType: Referenced,
    entityId: z.uuid(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'ExternalReference' })
export type ExternalReference = z.infer<typeof ExternalReference>

const tag = 'External references'

const adding = {
  method: 'POST',
  tag,
  statuses: [201, 200],
  errors: ['not_found', 'external_reference_conflict'],
  body: NewExternalReference,
  reply: ExternalReference,
} as const
const listing = {
  method: 'GET',
  tag,
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
  query: z.strictObject(pageQuery),
  reply: page(ExternalReference),
} as const
const removing = { method: 'DELETE', tag, errors: ['not_found'], reply: ExternalReference } as const

const task = { ref: TaskRef }
const thing = { id: Id }
const one = { referenceId: Id }

export const addTaskReference = route({
  ...adding,
  path: '/api/v1/tasks/{ref}/external-references',
  summary: 'Say what a task is called elsewhere; 200 when that was known',
  access: 'tasks.write',
  params: z.strictObject(task),
})

export const listTaskReferences = route({
  ...listing,
  path: '/api/v1/tasks/{ref}/external-references',
  summary: 'What a task is called elsewhere, newest first',
  access: 'tasks.read',
  params: z.strictObject(task),
})

export const removeTaskReference = route({
  ...removing,
  path: '/api/v1/tasks/{ref}/external-references/{referenceId}',
  summary: 'Forget a name of a task elsewhere; answers what it was',
  access: 'tasks.write',
  params: z.strictObject({ ...task, ...one }),
})

export const addWorkspaceReference = route({
  ...adding,
  path: '/api/v1/workspaces/{id}/external-references',
  summary: 'Say what a workspace is called elsewhere; 200 when that was known',
  access: 'workspaces.manage',
  params: z.strictObject(thing),
})

export const listWorkspaceReferences = route({
  ...listing,
  path: '/api/v1/workspaces/{id}/external-references',
  summary: 'What a workspace is called elsewhere, newest first',
  access: 'workspaces.read',
  params: z.strictObject(thing),
})

export const removeWorkspaceReference = route({
  ...removing,
  path: '/api/v1/workspaces/{id}/external-references/{referenceId}',
  summary: 'Forget a name of a workspace elsewhere; answers what it was',
  access: 'workspaces.manage',
  params: z.strictObject({ ...thing, ...one }),
})

export const addArtifactReference = route({
  ...adding,
  path: '/api/v1/artifacts/{id}/external-references',
  summary: 'Say what an artifact is called elsewhere; 200 when that was known',
  access: 'artifacts.write',
  params: z.strictObject(thing),
})

export const listArtifactReferences = route({
  ...listing,
  path: '/api/v1/artifacts/{id}/external-references',
  summary: 'What an artifact is called elsewhere, newest first',
  access: 'artifacts.read',
  params: z.strictObject(thing),
})

export const removeArtifactReference = route({
  ...removing,
  path: '/api/v1/artifacts/{id}/external-references/{referenceId}',
  summary: 'Forget a name of an artifact elsewhere; answers what it was',
  access: 'artifacts.write',
  params: z.strictObject({ ...thing, ...one }),
})

export const findExternalReference = route({
  method: 'GET',
  path: '/api/v1/external-references',
  summary: 'What here is called so elsewhere; the caller must be allowed to read it',
  tag,
  access: 'authenticated',
  errors: ['not_found'],
  query: z.strictObject(key),
  reply: ExternalReference,
})

export const routes = {
  addTaskReference,
  listTaskReferences,
  removeTaskReference,
  addWorkspaceReference,
  listWorkspaceReferences,
  removeWorkspaceReference,
  addArtifactReference,
  listArtifactReferences,
  removeArtifactReference,
  findExternalReference,
}
