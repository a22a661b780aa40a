import { PERMISSIONS } from '#contract/permissions.ts'
import type { Sql } from '#db/sql.ts'
import { appendEvents, lockEntities } from '#events/append.ts'
import type { Ctx } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { insertApiKey } from './api-key.sql.ts'
import type { ApiKeyRow } from './api-key.sql.ts'
import { newKey } from './key.ts'
import { insertPrincipal } from './principal.sql.ts'
import type { PrincipalRow } from './principal.sql.ts'
import { insertTenant } from './tenant.sql.ts'
import type { TenantRow } from './tenant.sql.ts'

export interface NewTenant {
  slug: string
  name: string
  /** Name of the first person. */
  displayName: string
}

export interface CreatedTenant {
  tenant: TenantRow
  principal: PrincipalRow
  apiKey: ApiKeyRow & { key: string }
}

/**
 * Creates the tenant `ctx.tenantId` with one person, `ctx.actorId`, and an admin key for that person,
 * whose text is in the answer and nowhere else. Not reachable by a request: see `bootstrap`.
 */
export async function createTenant(sql: Sql, ctx: Ctx, input: NewTenant): Promise<CreatedTenant> {
  await lockEntities(sql, ctx, [{ type: 'tenant', id: ctx.tenantId }])
  const tenant = await insertTenant(sql, ctx, input)
  const { displayName } = input
  const principal = await insertPrincipal(sql, ctx, {
    id: ctx.actorId,
    kind: 'human',
    displayName,
  })
  const { text, ...secret } = newKey()
  const apiKey = await insertApiKey(sql, ctx, {
    ...secret,
    id: newId(),
    principalId: principal.id,
    name: 'bootstrap',
    permissions: PERMISSIONS.filter((permission) => permission === 'admin'),
    workspaceId: null,
    breakGlassReason: null,
    expiresAt: null,
  })
  await appendEvents(sql, ctx, [
    {
      type: 'tenant.bootstrapped',
      entityType: 'tenant',
      entityId: tenant.id,
      entityVersion: 1,
      workspaceId: null,
      payload: { slug: tenant.slug },
    },
    {
      type: 'principal.created',
      entityType: 'principal',
      entityId: principal.id,
      entityVersion: 1,
      workspaceId: null,
      payload: { kind: 'human', displayName },
    },
    {
      type: 'api_key.created',
      entityType: 'api_key',
      entityId: apiKey.id,
      entityVersion: 1,
      workspaceId: null,
      payload: { principalId: principal.id, prefix: apiKey.prefix },
    },
  ])
  return { tenant, principal, apiKey: { ...apiKey, key: text } }
}
