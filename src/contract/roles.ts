import { z } from 'zod'
import { Id, page, pageQuery, Slug, text, UtcInstant } from './common.ts'
import { route } from './route.ts'

const Name = text(200)
const Description = z.string().max(2000)
const byId = z.strictObject({ id: Id })

/** Something people and agents are to a tenant or a workspace: reviewer, release manager. */
export const Role = z
  .strictObject({
    id: z.uuid(),
    /** Where the role is known, with everything below; null for the whole tenant. */
    workspaceId: z.uuid().nullable(),
    slug: Slug,
    name: Name,
    description: Description,
    version: z.int().positive(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Role' })
export type Role = z.infer<typeof Role>

const CapabilityName = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9._-]{0,99}$/,
    'must be 1 to 100 of a-z, 0-9, dot, underscore and hyphen, beginning with a letter or a digit',
  )

/** Something a principal is able to do, such as `python` or `gpu`. */
export const Capability = z
  .strictObject({
    id: z.uuid(),
    name: CapabilityName,
    description: Description,
    version: z.int().positive(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Capability' })
export type Capability = z.infer<typeof Capability>

/** Who has a role, a capability or a skill, everywhere or in a workspace and what is below it. */
export const Assignment = z
  .strictObject({
    id: z.uuid(),
    principalId: z.uuid(),
    roleId: z.uuid().nullable(),
    capabilityId: z.uuid().nullable(),
    skillId: z.uuid().nullable(),
    workspaceId: z.uuid().nullable(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Assignment' })
export type Assignment = z.infer<typeof Assignment>

/** Whom, and where; without a workspace it holds everywhere, a role wherever it is known. */
export const Grant = z.strictObject({ principalId: Id, workspaceId: Id.nullable().default(null) })
/** Whether there was something to take. */
export const Revoked = z.strictObject({ revoked: z.boolean() })
const pageErrors = ['invalid_limit', 'invalid_cursor'] as const
const patchErrors = [
  'not_found',
  'version_conflict',
  'if_match_required',
  'invalid_if_match',
] as const

export const createRole = route({
  method: 'POST',
  path: '/api/v1/roles',
  summary: 'Add a role to the tenant or to a workspace',
  tag: 'Roles',
  access: 'org.manage',
  body: z.strictObject({
    slug: Slug,
    name: Name,
    description: Description.default(''),
    workspaceId: Id.nullable().default(null),
  }),
  reply: Role,
  statuses: [201],
  errors: ['not_found', 'role_exists', 'workspace_archived'],
  etag: 'role',
})

export const listRoles = route({
  method: 'GET',
  path: '/api/v1/roles',
  summary: 'List roles, newest first; with a workspace, those that are known there',
  tag: 'Roles',
  access: 'org.read',
  query: z.strictObject({ ...pageQuery, workspaceId: Id.optional() }),
  reply: page(Role),
  errors: ['not_found', ...pageErrors],
})

export const getRole = route({
  method: 'GET',
  path: '/api/v1/roles/{id}',
  summary: 'Show a role',
  tag: 'Roles',
  access: 'org.read',
  params: byId,
  reply: Role,
  errors: ['not_found'],
  etag: 'role',
})

export const updateRole = route({
  method: 'PATCH',
  path: '/api/v1/roles/{id}',
  summary: 'Rename or describe a role',
  tag: 'Roles',
  access: 'org.manage',
  params: byId,
  body: z.strictObject({
    slug: Slug.optional(),
    name: Name.optional(),
    description: Description.optional(),
  }),
  reply: Role,
  errors: [...patchErrors, 'role_exists'],
  etag: 'role',
  ifMatch: 'role',
})

export const assignRole = route({
  method: 'POST',
  path: '/api/v1/roles/{id}:assign',
  summary: 'Give a role to a principal; giving it again changes nothing',
  tag: 'Roles',
  access: 'org.manage',
  params: byId,
  body: Grant,
  reply: Assignment,
  statuses: [201, 200],
  errors: ['not_found', 'assignment_outside_role'],
})

export const revokeRole = route({
  method: 'POST',
  path: '/api/v1/roles/{id}:revoke',
  summary: 'Take a role from a principal where it was given; taking it again changes nothing',
  tag: 'Roles',
  access: 'org.manage',
  params: byId,
  body: Grant,
  reply: Revoked,
  errors: ['not_found'],
})

export const listRoleAssignments = route({
  method: 'GET',
  path: '/api/v1/roles/{id}/assignments',
  summary: 'List who has a role, newest first',
  tag: 'Roles',
  access: 'org.read',
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(Assignment),
  errors: ['not_found', ...pageErrors],
})

export const createCapability = route({
  method: 'POST',
  path: '/api/v1/capabilities',
  summary: 'Add a capability that work can ask for',
  tag: 'Capabilities',
  access: 'org.manage',
  body: z.strictObject({ name: CapabilityName, description: Description.default('') }),
  reply: Capability,
  statuses: [201],
  errors: ['capability_exists'],
})

export const listCapabilities = route({
  method: 'GET',
  path: '/api/v1/capabilities',
  summary: 'List capabilities, newest first',
  tag: 'Capabilities',
  access: 'org.read',
  query: z.strictObject(pageQuery),
  reply: page(Capability),
  errors: [...pageErrors],
})

export const getCapability = route({
  method: 'GET',
  path: '/api/v1/capabilities/{id}',
  summary: 'Show a capability',
  tag: 'Capabilities',
  access: 'org.read',
  params: byId,
  reply: Capability,
  errors: ['not_found'],
  etag: 'capability',
})

export const updateCapability = route({
  method: 'PATCH',
  path: '/api/v1/capabilities/{id}',
  summary: 'Describe a capability; its name stays, since work refers to it',
  tag: 'Capabilities',
  access: 'org.manage',
  params: byId,
  body: z.strictObject({ description: Description }),
  reply: Capability,
  errors: [...patchErrors],
  etag: 'capability',
  ifMatch: 'capability',
})

export const assignCapability = route({
  method: 'POST',
  path: '/api/v1/capabilities/{id}:assign',
  summary: 'Record that a principal has a capability; recording it again changes nothing',
  tag: 'Capabilities',
  access: 'org.manage',
  params: byId,
  body: Grant,
  reply: Assignment,
  statuses: [201, 200],
  errors: ['not_found'],
})

export const revokeCapability = route({
  method: 'POST',
  path: '/api/v1/capabilities/{id}:revoke',
  summary: 'Record that a principal has a capability no longer; again changes nothing',
  tag: 'Capabilities',
  access: 'org.manage',
  params: byId,
  body: Grant,
  reply: Revoked,
  errors: ['not_found'],
})

export const listCapabilityAssignments = route({
  method: 'GET',
  path: '/api/v1/capabilities/{id}/assignments',
  summary: 'List who has a capability, newest first',
  tag: 'Capabilities',
  access: 'org.read',
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(Assignment),
  errors: ['not_found', ...pageErrors],
})

export const listPrincipalAssignments = route({
  method: 'GET',
  path: '/api/v1/principals/{id}/assignments',
  summary: 'List the roles, capabilities and skills of a principal, newest first',
  tag: 'Roles',
  access: 'org.read',
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(Assignment),
  errors: ['not_found', ...pageErrors],
})

/** Every route of this file, for the API document, the clients and the checks that all are bound. */
export const routes = {
  createRole,
  listRoles,
  getRole,
  updateRole,
  assignRole,
  revokeRole,
  listRoleAssignments,
  createCapability,
  listCapabilities,
  getCapability,
  updateCapability,
  assignCapability,
  revokeCapability,
  listCapabilityAssignments,
  listPrincipalAssignments,
}
