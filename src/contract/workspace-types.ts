import { z } from 'zod'
import { page, pageQuery, text, UtcInstant } from './common.ts'
import { route } from './route.ts'

/** The name of a workspace type within its tenant; it never changes. */
export const WorkspaceTypeKey = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,62}$/,
    'must be 1 to 63 of a-z, 0-9, _ and -, not beginning with _ or -',
  )

const DisplayName = text(200)
const Description = z.string().max(2000)

/** Types below which a workspace may stand; null for below anything. */
const ParentTypes = z
  .array(WorkspaceTypeKey)
  .max(100)
  .refine((keys) => new Set(keys).size === keys.length, 'must not repeat a type')
  .nullable()

export const WorkspaceType = z
  .strictObject({
    id: z.uuid(),
    key: WorkspaceTypeKey,
    displayName: DisplayName,
    description: Description,
    /** Whether a workspace of this type may stand at the top. */
    allowRoot: z.boolean(),
    parentTypes: ParentTypes,
    version: z.int().positive(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'WorkspaceType' })
export type WorkspaceType = z.infer<typeof WorkspaceType>

const byKey = z.strictObject({ key: WorkspaceTypeKey })

export const createWorkspaceType = route({
  method: 'POST',
  path: '/api/v1/workspace-types',
  summary: 'Name a kind of workspace and where in the tree it may stand',
  tag: 'Workspaces',
  access: 'workspaces.manage',
  body: z.strictObject({
    key: WorkspaceTypeKey,
    displayName: DisplayName,
    description: Description.default(''),
    allowRoot: z.boolean().default(true),
    parentTypes: ParentTypes.default(null),
  }),
  reply: WorkspaceType,
  statuses: [201],
  errors: ['not_found', 'workspace_type_exists'],
  etag: 'workspace_type',
})

export const listWorkspaceTypes = route({
  method: 'GET',
  path: '/api/v1/workspace-types',
  summary: 'List workspace types, newest first',
  tag: 'Workspaces',
  access: 'workspaces.read',
  query: z.strictObject(pageQuery),
  reply: page(WorkspaceType),
  errors: ['invalid_limit', 'invalid_cursor'],
})

export const getWorkspaceType = route({
  method: 'GET',
  path: '/api/v1/workspace-types/{key}',
  summary: 'Show a workspace type',
  tag: 'Workspaces',
  access: 'workspaces.read',
  params: byKey,
  reply: WorkspaceType,
  errors: ['not_found'],
  etag: 'workspace_type',
})

export const updateWorkspaceType = route({
  method: 'PATCH',
  path: '/api/v1/workspace-types/{key}',
  summary:
    'Change a workspace type; workspaces stay where they are, later moves follow the new rules',
  tag: 'Workspaces',
  access: 'workspaces.manage',
  params: byKey,
  body: z.strictObject({
    displayName: DisplayName.optional(),
    description: Description.optional(),
    allowRoot: z.boolean().optional(),
    parentTypes: ParentTypes.optional(),
  }),
  reply: WorkspaceType,
  errors: ['not_found', 'version_conflict', 'if_match_required', 'invalid_if_match'],
  etag: 'workspace_type',
  ifMatch: 'workspace_type',
})

export const routes = {
  createWorkspaceType,
  listWorkspaceTypes,
  getWorkspaceType,
  updateWorkspaceType,
}
