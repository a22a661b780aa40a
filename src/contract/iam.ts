import { z } from 'zod'
import { Id, page, pageQuery, text, UtcInstant } from './common.ts'
import { route } from './route.ts'

const byId = z.strictObject({ id: Id })

export const BindingStatus = z.enum(['active', 'disabled', 'revoked'])

/** Who an identity of an OpenID Connect issuer is here, and what its tokens may do at most. */
export const IamBinding = z
  .strictObject({
    id: z.uuid(),
    principalId: z.uuid(),
    issuer: z.string(),
    iamTenantId: z.string().nullable(),
    iamPrincipalId: z.string(),
    permissions: z.array(z.string()),
    /** Limits the binding to this workspace and what is below it; null for the whole tenant. */
    workspaceId: z.uuid().nullable(),
    status: BindingStatus,
    version: z.int().positive(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'IamBinding' })
export type IamBinding = z.infer<typeof IamBinding>

const permissionErrors = [
  'invalid_permissions',
  'permissions_not_allowed_for_kind',
  'permission_escalation',
] as const

export const createIamBinding = route({
  method: 'POST',
  path: '/api/v1/principals/{id}/iam-bindings',
  summary: 'Accept access tokens of an identity of another issuer as this principal',
  tag: 'Identity',
  access: 'principals.write',
  params: byId,
  body: z.strictObject({
    /** The issuer exactly as it stands in the tokens (`iss`). */
    issuer: z.url({ protocol: /^https?$/ }).max(500),
    /** The tokens must name this tenant (`tenant_id`). */
    iamTenantId: text(255).nullable().default(null),
    /** The subject of the tokens (`sub`). */
    iamPrincipalId: text(255),
    permissions: z.array(z.string().max(100)).max(100),
    /** Limits the binding to this workspace and what is below it. */
    workspaceId: Id.nullable().default(null),
  }),
  reply: IamBinding,
  statuses: [201],
  errors: ['not_found', 'iam_binding_exists', ...permissionErrors],
  etag: 'iam_binding',
})

export const listIamBindings = route({
  method: 'GET',
  path: '/api/v1/principals/{id}/iam-bindings',
  summary: 'List the identities bound to a principal, newest first',
  tag: 'Identity',
  access: 'principals.read',
  params: byId,
  query: z.strictObject(pageQuery),
  reply: page(IamBinding),
  errors: ['not_found', 'invalid_limit', 'invalid_cursor'],
})

export const getIamBinding = route({
  method: 'GET',
  path: '/api/v1/iam-bindings/{id}',
  summary: 'Show a bound identity',
  tag: 'Identity',
  access: 'principals.read',
  params: byId,
  reply: IamBinding,
  errors: ['not_found'],
  etag: 'iam_binding',
})

export const updateIamBinding = route({
  method: 'PATCH',
  path: '/api/v1/iam-bindings/{id}',
  summary: 'Change what a bound identity may do; disable it, or revoke it for good',
  tag: 'Identity',
  access: 'principals.write',
  params: byId,
  body: z.strictObject({
    permissions: z.array(z.string().max(100)).max(100).optional(),
    status: BindingStatus.optional(),
  }),
  reply: IamBinding,
  errors: [
    'not_found',
    'version_conflict',
    'if_match_required',
    'invalid_if_match',
    'invalid_transition',
    'last_admin_required',
    ...permissionErrors,
  ],
  etag: 'iam_binding',
  ifMatch: 'iam_binding',
})

/** Every route of this area, for the API document, the clients and the checks that all are bound. */
export const routes = { createIamBinding, listIamBindings, getIamBinding, updateIamBinding }
