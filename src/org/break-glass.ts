import type { Sql } from '#db/sql.ts'
import { appendEvent, lockEntities } from '#events/append.ts'
import type { Author } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { StartError } from '#lib/start-error.ts'
import { insertApiKey } from './api-key.sql.ts'
import type { ApiKeyRow } from './api-key.sql.ts'
import { newKey } from './key.ts'
import { selectRescuer } from './principal.sql.ts'
import { selectTenantBySlug } from './tenant.sql.ts'

export interface Emergency {
  /** Why; kept with the key and in the journal. */
  reason: string
  ttlSeconds: number
  /** Slug of the tenant; the one that the installation was bootstrapped with unless given. */
  tenant: string | undefined
  /** The active person to act as; the longest known one unless given. */
  principalId: string | undefined
}

/**
 * Issues an admin key for a few hours to an active person of a tenant. For the host's shell alone: nobody
 * is asked who they are. The journal tells that it was made and why. The text of the key is in the answer
 * and nowhere else. Throws `StartError` when there is no such tenant or person.
 */
export async function breakGlass(
  sql: Sql,
  emergency: Emergency,
): Promise<ApiKeyRow & { key: string }> {
  const { reason, ttlSeconds, tenant: slug, principalId } = emergency
  const tenant = await selectTenantBySlug(sql, slug)
  if (!tenant) throw refused(slug === undefined ? 'name a tenant' : `there is no tenant "${slug}"`)
  const person = await selectRescuer(sql, { tenantId: tenant.id }, principalId)
  if (!person) throw refused('there is no such active person in the tenant')
  const author: Author = { ...HOST, tenantId: tenant.id }
  const id = newId()
  await lockEntities(sql, author, [{ type: 'api_key', id }])
  const { text, ...secret } = newKey('break-glass')
  const apiKey = await insertApiKey(sql, author, {
    ...secret,
    id,
    principalId: person.id,
    name: 'break-glass',
    permissions: ['admin'],
    workspaceId: null,
    breakGlassReason: reason,
    expiresAt: { inSeconds: ttlSeconds },
  })
  await appendEvent(sql, author, {
    type: 'break_glass_key.created',
    entityType: 'api_key',
    entityId: id,
    entityVersion: 1,
    workspaceId: null,
    payload: {
      principalId: person.id,
      prefix: apiKey.prefix,
      reason,
      expiresAt: apiKey.expiresAt?.toISOString() ?? '',
    },
  })
  return { ...apiKey, key: text }
}

/** No request and no principal: whoever holds the machine. */
const HOST: Omit<Author, 'tenantId'> = {
  actorId: null,
  requestId: null,
  correlationId: null,
  traceRunId: null,
  wake: () => {},
}

function refused(why: string): StartError {
  return new StartError(`Cannot make a break-glass key: ${why}`)
}
