import type { Sql } from '#db/sql.ts'

export interface CredentialRow {
  tenantId: string
  keyId: string
  principalId: string
  principalStatus: 'active' | 'suspended' | 'disabled'
  secretHash: Uint8Array
  permissions: string[]
  /** Neither revoked nor expired, by the clock of the database. */
  live: boolean
  /** The last recorded use is missing or older than the given age. */
  useIsStale: boolean
}

/** The one look-up that does not know its tenant yet: the unique prefix names the key and so the tenant. */
export async function selectCredential(
  sql: Sql,
  prefix: string,
  useRefreshSeconds: number,
): Promise<CredentialRow | undefined> {
  const [row] = await sql<CredentialRow[]>`
    select k.tenant_id, k.id as key_id, k.principal_id,
           p.status as principal_status, k.secret_hash, k.permissions,
           k.revoked_at is null and (k.expires_at is null or k.expires_at > now()) as live,
           k.last_used_at is null
             or k.last_used_at <= now() - make_interval(secs => ${useRefreshSeconds}) as use_is_stale
    from api_keys k
    join principals p on p.tenant_id = k.tenant_id and p.id = k.principal_id
    where k.prefix = ${prefix}`
  return row
}

/** Many requests may see the same stale use; the first one to get here writes, the rest find it done. */
export async function updateLastUsed(
  sql: Sql,
  key: { tenantId: string; keyId: string },
  useRefreshSeconds: number,
): Promise<void> {
  await sql`
    update api_keys
    set last_used_at = now()
    where tenant_id = ${key.tenantId}
      and id = ${key.keyId}
      and (last_used_at is null
        or last_used_at <= now() - make_interval(secs => ${useRefreshSeconds}))`
}
