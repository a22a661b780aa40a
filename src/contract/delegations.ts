import { z } from 'zod'
import { Id, Instant, page, pageQuery, UtcInstant } from './common.ts'
import { route } from './route.ts'

const byId = z.strictObject({ id: Id })
const pageErrors = ['invalid_limit', 'invalid_cursor'] as const

/** Leave of a person for an agent to act in the person's name. */
export const Delegation = z
  .strictObject({
    id: z.uuid(),
    humanPrincipalId: z.uuid(),
    agentPrincipalId: z.uuid(),
    /** What the agent may do in the person's name; it gives the agent no right of its own. */
    permissions: z.array(z.string()),
    status: z.enum(['active', 'revoked', 'expired']),
    expiresAt: UtcInstant.nullable(),
    revokedAt: UtcInstant.nullable(),
    createdBy: z.uuid(),
    createdAt: UtcInstant,
  })
  .meta({ id: 'Delegation' })
export type Delegation = z.infer<typeof Delegation>

export const createDelegation = route({
  method: 'POST',
  path: '/api/v1/delegations',
  summary: 'Let an agent act in the name of a person',
  tag: 'Delegations',
  access: 'delegations.manage',
  body: z.strictObject({
    humanPrincipalId: Id,
    agentPrincipalId: Id,
    permissions: z.array(z.string().max(100)).max(100),
    /** Must lie in the future; without it the delegation holds until it is revoked. */
    expiresAt: Instant.nullable().default(null),
  }),
  reply: Delegation,
  statuses: [201],
  errors: [
    'not_found',
    'invalid_permissions',
    'permissions_not_allowed_for_kind',
    'permission_escalation',
    'invalid_delegation',
  ],
})

export const listDelegations = route({
  method: 'GET',
  path: '/api/v1/delegations',
  summary: 'List delegations, newest first; without delegations.manage, one’s own',
  tag: 'Delegations',
  access: 'authenticated',
  query: z.strictObject({
    ...pageQuery,
    humanPrincipalId: Id.optional(),
    agentPrincipalId: Id.optional(),
  }),
  reply: page(Delegation),
  errors: [...pageErrors],
})

export const revokeDelegation = route({
  method: 'POST',
  path: '/api/v1/delegations/{id}:revoke',
  summary:
    'End a delegation at once, by who manages them or the person; ending it again changes nothing',
  tag: 'Delegations',
  access: 'authenticated',
  params: byId,
  reply: Delegation,
  errors: ['not_found', 'permission_denied'],
})

/** Every route of this file, for the API document, the clients and the checks that all are bound. */
export const routes = {
  createDelegation,
  listDelegations,
  revokeDelegation,
}
