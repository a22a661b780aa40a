import { z } from 'zod'
import { Id, Instant, page, pageQuery, Slug, text, UtcInstant } from './common.ts'
import { route } from './route.ts'

export const PrincipalKind = z.enum(['human', 'agent', 'service'])
export type PrincipalKind = z.infer<typeof PrincipalKind>

export const PrincipalStatus = z.enum(['active', 'suspended', 'disabled'])
export type PrincipalStatus = z.infer<typeof PrincipalStatus>

const Name = text(200)
const version = z.int().positive()

export const Tenant = z
  .strictObject({ id: z.uuid(), slug: Slug, name: Name, createdAt: UtcInstant })
  .meta({ id: 'Tenant' })
export type Tenant = z.infer<typeof Tenant>

/** Somebody or something that acts: a person, an agent or a service. */
export const Principal = z
  .strictObject({
    id: z.uuid(),
    kind: PrincipalKind,
    displayName: Name,
    status: PrincipalStatus,
    version,
    createdAt: UtcInstant,
  })
  .meta({ id: 'Principal' })
export type Principal = z.infer<typeof Principal>

export const ApiKey = z
  .strictObject({
    id: z.uuid(),
    principalId: z.uuid(),
    name: Name,
    /** The public part of the key, by which people recognise it. */
    prefix: z.string(),
    permissions: z.array(z.string()),
    /** Limits the key to this workspace and what is below it; null for the whole tenant. */
    workspaceId: z.uuid().nullable(),
    /** Made from the shell of the host for an emergency. */
    breakGlass: z.boolean(),
    expiresAt: UtcInstant.nullable(),
    revokedAt: UtcInstant.nullable(),
    /** Written at most once a minute. */
    lastUsedAt: UtcInstant.nullable(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'ApiKey' })
export type ApiKey = z.infer<typeof ApiKey>

export const CreatedApiKey = z
  .strictObject({
    ...ApiKey.shape,
    /** The credential itself: shown once, null when the creation is replayed. */
    key: z.string().nullable(),
  })
  .meta({ id: 'CreatedApiKey' })
export type CreatedApiKey = z.infer<typeof CreatedApiKey>

const byId = z.strictObject({ id: z.uuid() })

export const bootstrap = route({
  method: 'POST',
  path: '/api/v1/bootstrap',
  summary: 'Create the first tenant, its first person and an admin key; works once',
  tag: 'Identity',
  access: 'bootstrap',
  idempotencyKey: 'none',
  body: z.strictObject({
    slug: Slug,
    name: Name,
    displayName: Name.default('Administrator'),
  }),
  reply: z.strictObject({ tenant: Tenant, principal: Principal, apiKey: CreatedApiKey }),
  statuses: [201],
  errors: ['bootstrap_disabled', 'already_bootstrapped'],
})

export const getMe = route({
  method: 'GET',
  path: '/api/v1/me',
  summary: 'Tell who the caller is and what the credential allows',
  tag: 'Identity',
  access: 'authenticated',
  reply: z.strictObject({
    tenant: Tenant,
    principal: Principal,
    permissions: z.array(z.string()),
    keyPrefix: z.string().nullable(),
    /** Who the caller is to the issuer of its access token; null for a key. */
    iam: z.strictObject({ issuer: z.string(), principalId: z.string() }).nullable(),
    /** The workspace that the credential is limited to; null for the whole tenant. */
    workspaceId: z.uuid().nullable(),
  }),
})

export const createPrincipal = route({
  method: 'POST',
  path: '/api/v1/principals',
  summary: 'Add a person, an agent or a service',
  tag: 'Identity',
  access: 'principals.write',
  body: z.strictObject({ kind: PrincipalKind, displayName: Name }),
  reply: Principal,
  statuses: [201],
  etag: 'principal',
})

export const listPrincipals = route({
  method: 'GET',
  path: '/api/v1/principals',
  summary: 'List principals, newest first',
  tag: 'Identity',
  access: 'principals.read',
  query: z.strictObject({ ...pageQuery, kind: PrincipalKind.optional() }),
  reply: page(Principal),
  errors: ['invalid_limit', 'invalid_cursor'],
})

export const getPrincipal = route({
  method: 'GET',
  path: '/api/v1/principals/{id}',
  summary: 'Show a principal',
  tag: 'Identity',
  access: 'principals.read',
  params: byId,
  reply: Principal,
  errors: ['not_found'],
  etag: 'principal',
})

export const updatePrincipal = route({
  method: 'PATCH',
  path: '/api/v1/principals/{id}',
  summary: 'Rename, suspend, disable or reactivate a principal',
  tag: 'Identity',
  access: 'principals.write',
  params: byId,
  body: z.strictObject({ displayName: Name.optional(), status: PrincipalStatus.optional() }),
  reply: Principal,
  errors: [
    'not_found',
    'version_conflict',
    'if_match_required',
    'invalid_if_match',
    'last_admin_required',
    'permission_escalation',
  ],
  etag: 'principal',
  ifMatch: 'principal',
})

export const createApiKey = route({
  method: 'POST',
  path: '/api/v1/principals/{id}/api-keys',
  summary: 'Issue a key; the credential is shown in this answer only',
  tag: 'Identity',
  access: 'principals.write',
  params: byId,
  body: z.strictObject({
    name: Name,
    permissions: z.array(z.string().max(100)).max(100),
    /** Limits the key to this workspace and what is below it. */
    workspaceId: Id.nullable().default(null),
    /** Must lie in the future; without it the key does not expire. */
    expiresAt: Instant.nullable().default(null),
  }),
  reply: CreatedApiKey,
  statuses: [201],
  errors: [
    'not_found',
    'invalid_permissions',
    'permissions_not_allowed_for_kind',
    'permission_escalation',
  ],
  secretFields: ['key'],
})

export const listApiKeys = route({
  method: 'GET',
  path: '/api/v1/principals/{id}/api-keys',
  summary: 'List the keys of a principal without their secrets, newest first',
  tag: 'Identity',
  access: 'principals.read',
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(ApiKey),
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
})

export const revokeApiKey = route({
  method: 'POST',
  path: '/api/v1/api-keys/{id}:revoke',
  summary: 'End a key at once; revoking it again changes nothing',
  tag: 'Identity',
  access: 'principals.write',
  params: byId,
  reply: ApiKey,
  errors: ['not_found', 'last_admin_required'],
})

/** Every route of this area, for the API document, the clients and the checks that all are bound. */
export const routes = {
  bootstrap,
  getMe,
  createPrincipal,
  listPrincipals,
  getPrincipal,
  updatePrincipal,
  createApiKey,
  listApiKeys,
  revokeApiKey,
}
