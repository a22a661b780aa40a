import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'

/** Everything of a key that may be shown; the hash of its secret is read by authentication alone. */
export interface ApiKeyRow {
  id: string
  principalId: string
  name: string
  prefix: string
  permissions: string[]
  /** Limits the key to this workspace and what is below it. */
  workspaceId: string | null
  /** Set for a key that was made from the shell of the host. */
  breakGlassReason: string | null
  expiresAt: Date | null
  revokedAt: Date | null
  lastUsedAt: Date | null
  createdAt: Date
}

export interface NewApiKey {
  id: string
  principalId: string
  name: string
  prefix: string
  secretHash: Uint8Array
  permissions: readonly string[]
  workspaceId: string | null
  breakGlassReason: string | null
  /** By the clock of the database where only a length is given. */
  expiresAt: Date | { inSeconds: number } | null
}

function columns(sql: Sql) {
  return sql`id, principal_id, name, prefix, permissions, workspace_id, break_glass_reason,
    expires_at, revoked_at, last_used_at, created_at`
}

export async function insertApiKey(sql: Sql, ctx: Tenancy, key: NewApiKey): Promise<ApiKeyRow> {
  const { expiresAt } = key
  const expiry =
    expiresAt !== null && 'inSeconds' in expiresAt
      ? sql`clock_timestamp() + make_interval(secs => ${expiresAt.inSeconds})`
      : sql`${expiresAt}::timestamptz`
  const [row] = await sql<[ApiKeyRow]>`
    insert into api_keys
      (tenant_id, id, principal_id, name, prefix, secret_hash, permissions, workspace_id,
       break_glass_reason, expires_at)
    values
      (${ctx.tenantId}, ${key.id}, ${key.principalId}, ${key.name}, ${key.prefix},
       ${key.secretHash}, ${key.permissions}, ${key.workspaceId}, ${key.breakGlassReason},
       ${expiry})
    returning ${columns(sql)}`
  return row
}

export async function selectApiKey(sql: Sql, ctx: Ctx, id: string): Promise<ApiKeyRow | undefined> {
  const [row] = await sql<ApiKeyRow[]>`
    select ${columns(sql)}
    from api_keys
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

/** Uses index api_keys_by_principal. Reads one row more than the page holds. */
export async function selectApiKeys(
  sql: Sql,
  ctx: Ctx,
  filter: { principalId: string; page: PageRequest },
): Promise<ApiKeyRow[]> {
  return await sql<ApiKeyRow[]>`
    select ${columns(sql)}
    from api_keys
    where tenant_id = ${ctx.tenantId}
      and principal_id = ${filter.principalId}
      ${olderThan(sql, filter.page)}
    order by created_at desc, id desc
    limit ${filter.page.limit + 1}`
}

export async function updateKeyRevoked(sql: Sql, ctx: Ctx, id: string): Promise<ApiKeyRow> {
  const [row] = await sql<[ApiKeyRow]>`
    update api_keys
    set revoked_at = clock_timestamp()
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning ${columns(sql)}`
  return row
}
