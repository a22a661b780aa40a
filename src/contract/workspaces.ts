import { z } from 'zod'
import { page, pageQuery, queryBool, Slug, text, UtcInstant } from './common.ts'
import { route } from './route.ts'
import { WorkspaceTypeKey } from './workspace-types.ts'

export const WorkspaceStatus = z.enum(['active', 'archived'])
export type WorkspaceStatus = z.infer<typeof WorkspaceStatus>

const Name = text(200)

export const Workspace = z
  .strictObject({
    id: z.uuid(),
    parentId: z.uuid().nullable(),
    slug: Slug,
    name: Name,
    status: WorkspaceStatus,
    /** What kind of workspace it is; null for none in particular. */
    typeKey: WorkspaceTypeKey.nullable(),
    version: z.int().positive(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Workspace' })
export type Workspace = z.infer<typeof Workspace>

export type WorkspaceNode = Workspace & { children: WorkspaceNode[] }
export const WorkspaceNode: z.ZodType<WorkspaceNode> = z
  .strictObject({
    ...Workspace.shape,
    get children() {
      return z.array(WorkspaceNode)
    },
  })
  .meta({ id: 'WorkspaceNode' })

const byId = z.strictObject({ id: z.uuid() })

export const createWorkspace = route({
  method: 'POST',
  path: '/api/v1/workspaces',
  summary: 'Create a workspace at the top or under a parent',
  tag: 'Workspaces',
  access: 'workspaces.manage',
  body: z.strictObject({
    slug: Slug,
    name: Name,
    parentId: z.uuid().nullable().default(null),
    typeKey: WorkspaceTypeKey.nullable().default(null),
  }),
  reply: Workspace,
  statuses: [201],
  errors: [
    'not_found',
    'workspace_slug_conflict',
    'workspace_archived',
    'invalid_workspace_parent',
  ],
  etag: 'workspace',
})

export const listWorkspaces = route({
  method: 'GET',
  path: '/api/v1/workspaces',
  summary: 'List workspaces, newest first',
  tag: 'Workspaces',
  access: 'workspaces.read',
  query: z.strictObject({
    ...pageQuery,
    parentId: z.uuid().optional(),
    status: WorkspaceStatus.optional(),
  }),
  reply: page(Workspace),
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
})

export const getWorkspaceTree = route({
  method: 'GET',
  path: '/api/v1/workspaces/tree',
  summary: 'Show the workspaces as trees, children by slug',
  tag: 'Workspaces',
  access: 'workspaces.read',
  query: z.strictObject({
    /** Only the tree below this workspace; all trees without it. */
    rootId: z.uuid().optional(),
    includeArchived: queryBool.default(false),
  }),
  reply: z.strictObject({ items: z.array(WorkspaceNode) }),
  errors: ['not_found'],
})

export const getWorkspace = route({
  method: 'GET',
  path: '/api/v1/workspaces/{id}',
  summary: 'Show a workspace',
  tag: 'Workspaces',
  access: 'workspaces.read',
  params: byId,
  reply: Workspace,
  errors: ['not_found'],
  etag: 'workspace',
})

export const updateWorkspace = route({
  method: 'PATCH',
  path: '/api/v1/workspaces/{id}',
  summary: 'Change the name, the slug or the type of a workspace',
  tag: 'Workspaces',
  access: 'workspaces.manage',
  params: byId,
  body: z.strictObject({
    slug: Slug.optional(),
    name: Name.optional(),
    typeKey: WorkspaceTypeKey.nullable().optional(),
  }),
  reply: Workspace,
  errors: [
    'not_found',
    'version_conflict',
    'if_match_required',
    'invalid_if_match',
    'workspace_slug_conflict',
    'workspace_archived',
    'invalid_workspace_parent',
  ],
  etag: 'workspace',
  ifMatch: 'workspace',
})

export const moveWorkspace = route({
  method: 'POST',
  path: '/api/v1/workspaces/{id}:move',
  summary: 'Put a workspace and everything below it under another parent, or at the top',
  tag: 'Workspaces',
  access: 'workspaces.manage',
  params: byId,
  body: z.strictObject({ parentId: z.uuid().nullable() }),
  reply: Workspace,
  errors: [
    'not_found',
    'workspace_archived',
    'workspace_cycle',
    'workspace_slug_conflict',
    'invalid_workspace_parent',
    'governance_weakened',
  ],
  etag: 'workspace',
})

export const archiveWorkspace = route({
  method: 'POST',
  path: '/api/v1/workspaces/{id}:archive',
  summary: 'Close a workspace without active children; archiving it again changes nothing',
  tag: 'Workspaces',
  access: 'workspaces.manage',
  params: byId,
  reply: Workspace,
  errors: ['not_found', 'workspace_has_active_children'],
  etag: 'workspace',
})

/** Every route on workspaces, for the API document, the clients and the checks that all are bound. */
export const routes = {
  createWorkspace,
  listWorkspaces,
  getWorkspaceTree,
  getWorkspace,
  updateWorkspace,
  moveWorkspace,
  archiveWorkspace,
}
