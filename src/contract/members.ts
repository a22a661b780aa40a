import { z } from 'zod'
import { Id, page, pageQuery, UtcInstant } from './common.ts'
import { route } from './route.ts'

const byId = z.strictObject({ id: Id })
const pageErrors = ['invalid_limit', 'invalid_cursor'] as const

export const WorkspaceMember = z
  .strictObject({
    workspaceId: z.uuid(),
    principalId: z.uuid(),
    displayName: z.string(),
    kind: z.enum(['human', 'agent', 'service']),
    addedBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'WorkspaceMember' })
export type WorkspaceMember = z.infer<typeof WorkspaceMember>

export const addMember = route({
  method: 'POST',
  path: '/api/v1/workspaces/{id}/members',
  summary: 'Add a principal to a workspace; adding it again changes nothing',
  tag: 'Workspaces',
  access: 'workspaces.manage',
  params: byId,
  body: z.strictObject({ principalId: Id }),
  reply: WorkspaceMember,
  statuses: [201, 200],
  errors: ['not_found', 'workspace_archived'],
})

export const listMembers = route({
  method: 'GET',
  path: '/api/v1/workspaces/{id}/members',
  summary: 'List the members of a workspace, newest first',
  tag: 'Workspaces',
  access: 'workspaces.read',
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(WorkspaceMember),
  errors: ['not_found', ...pageErrors],
})

export const removeMember = route({
  method: 'DELETE',
  path: '/api/v1/workspaces/{id}/members/{principalId}',
  summary: 'Remove a member from a workspace; removing it again changes nothing',
  tag: 'Workspaces',
  access: 'workspaces.manage',
  params: z.strictObject({ id: Id, principalId: Id }),
  /** Whether the principal was a member. */
  reply: z.strictObject({ removed: z.boolean() }),
  errors: ['not_found'],
})

/** Every route of this file, for the API document, the clients and the checks that all are bound. */
export const routes = {
  addMember,
  listMembers,
  removeMember,
}
