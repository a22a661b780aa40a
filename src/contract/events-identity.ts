import { z } from 'zod'

const id = z.uuid()
const nullableId = id.nullable()

/** Events of tenants, principals, credentials, roles, capabilities, members and delegations; see `EVENTS`. */
export const IDENTITY_EVENTS = {
  'tenant.bootstrapped': z.strictObject({ slug: z.string() }),
  'principal.created': z.strictObject({ kind: z.string(), displayName: z.string() }),
  'principal.updated': z.strictObject({ changes: z.array(z.string()), version: z.int() }),
  'api_key.created': z.strictObject({ principalId: id, prefix: z.string() }),
  'api_key.revoked': z.strictObject({ principalId: id, prefix: z.string() }),
  'break_glass_key.created': z.strictObject({
    principalId: id,
    prefix: z.string(),
    reason: z.string(),
    expiresAt: z.string(),
  }),
  'iam_binding.created': z.strictObject({
    principalId: id,
    issuer: z.string(),
    permissions: z.array(z.string()),
  }),
  'iam_binding.updated': z.strictObject({
    principalId: id,
    changes: z.array(z.string()),
    status: z.string(),
    version: z.int(),
  }),
  'workspace.member_added': z.strictObject({ principalId: id }),
  'workspace.member_removed': z.strictObject({ principalId: id }),
  'role.created': z.strictObject({
    slug: z.string(),
    name: z.string(),
    workspaceId: nullableId,
  }),
  'role.updated': z.strictObject({ changes: z.array(z.string()), version: z.int() }),
  'role.assigned': z.strictObject({ roleId: id, principalId: id, workspaceId: nullableId }),
  'role.revoked': z.strictObject({ roleId: id, principalId: id, workspaceId: nullableId }),
  'capability.created': z.strictObject({ name: z.string() }),
  'capability.updated': z.strictObject({ changes: z.array(z.string()), version: z.int() }),
  'capability.assigned': z.strictObject({
    capabilityId: id,
    principalId: id,
    workspaceId: nullableId,
  }),
  'capability.revoked': z.strictObject({
    capabilityId: id,
    principalId: id,
    workspaceId: nullableId,
  }),
  'delegation.created': z.strictObject({
    humanPrincipalId: id,
    agentPrincipalId: id,
    permissions: z.array(z.string()),
  }),
  'delegation.revoked': z.strictObject({ humanPrincipalId: id, agentPrincipalId: id }),
} as const satisfies Record<string, z.ZodType>
