import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'

export interface CredentialRow {
  tenantId: string
  keyId: string
  principalId: string
  principalStatus: 'active' | 'suspended' | 'disabled'
  secretHash: Uint8Array
  prefix: string
  permissions: string[]
  /** Limits the key to this workspace and what is below it. */
  workspaceId: string | null
  /** Seconds since the key was made. */
  ageSeconds: number
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
           p.status as principal_status, k.secret_hash, k.prefix, k.permissions,
           k.workspace_id,
           extract(epoch from clock_timestamp() - k.created_at)::float8 as age_seconds,
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

/** How an actor stands at the time of the query, as far as somebody else decided it. */
export interface Standing {
  /** Null when the transaction that asks has changed it itself. */
  principalStatus: 'active' | 'suspended' | 'disabled' | null
  /** False once the key is revoked or expired, or the binding not active, by somebody else. */
  credentialLive: boolean
}

/**
 * Reads again whether the actor and the credential are as good as when the request began. What the asking
 * transaction did to them itself does not count: who suspends itself, or gives back its own key, may.
 */
export async function selectStanding(
  sql: Sql,
  ctx: Pick<Ctx, 'tenantId' | 'actorId' | 'credentialId' | 'iam'>,
): Promise<Standing | undefined> {
  const [row] = await sql<Standing[]>`
    select case when p.xmin is distinct from own.xid then p.status end as principal_status,
           case
             when k.id is not null then k.xmin is not distinct from own.xid
               or (k.revoked_at is null and (k.expires_at is null or k.expires_at > clock_timestamp()))
             when b.id is not null then b.xmin is not distinct from own.xid or b.status = 'active'
             else false
           end as credential_live
    from principals p
    cross join (select pg_current_xact_id_if_assigned()::xid as xid) as own
    left join api_keys k on k.tenant_id = p.tenant_id and k.id = ${ctx.credentialId}
    left join iam_bindings b on b.tenant_id = p.tenant_id and b.id = ${ctx.iam?.bindingId ?? null}
    where p.tenant_id = ${ctx.tenantId}
      and p.id = ${ctx.actorId}`
  return row
}
