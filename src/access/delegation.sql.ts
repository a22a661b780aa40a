import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface DelegationRow {
  id: string
  humanPrincipalId: string
  agentPrincipalId: string
  permissions: string[]
  /** By the database clock at the time of the query. */
  status: 'active' | 'revoked' | 'expired'
  expiresAt: Date | null
  revokedAt: Date | null
  createdBy: string
  createdAt: Date
}

function columns(sql: Sql) {
  return sql`id, human_principal_id, agent_principal_id, permissions, expires_at, revoked_at,
    case when revoked_at is not null then 'revoked'
         when expires_at <= clock_timestamp() then 'expired'
         else 'active' end as status,
    created_by, created_at`
}

export async function insertDelegation(
  sql: Sql,
  ctx: Ctx,
  delegation: Pick<
    DelegationRow,
    'id' | 'humanPrincipalId' | 'agentPrincipalId' | 'permissions' | 'expiresAt'
  >,
): Promise<DelegationRow> {
  const { id, humanPrincipalId, agentPrincipalId, permissions, expiresAt } = delegation
  const [row] = await sql<[DelegationRow]>`
    insert into delegations
      (tenant_id, id, human_principal_id, agent_principal_id, permissions, expires_at, created_by)
    values
      (${ctx.tenantId}, ${id}, ${humanPrincipalId}, ${agentPrincipalId}, ${permissions},
       ${expiresAt}, ${ctx.actorId})
    returning ${columns(sql)}`
  return row
}

export async function selectDelegation(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<DelegationRow | undefined> {
  const [row] = await sql<DelegationRow[]>`
    select ${columns(sql)}
    from delegations
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

/** Uses index delegations_by_time. Reads one row more than the page holds. */
export async function selectDelegations(
  sql: Sql,
  ctx: Tenancy,
  filter: {
    page: PageRequest
    humanPrincipalId: string | undefined
    agentPrincipalId: string | undefined
    /** Only those that this principal gave or got. */
    partyId: string | undefined
  },
): Promise<DelegationRow[]> {
  const { page, humanPrincipalId, agentPrincipalId, partyId } = filter
  return await sql<DelegationRow[]>`
    select ${columns(sql)}
    from delegations
    where tenant_id = ${ctx.tenantId}
      ${humanPrincipalId ? sql`and human_principal_id = ${humanPrincipalId}` : sql``}
      ${agentPrincipalId ? sql`and agent_principal_id = ${agentPrincipalId}` : sql``}
      ${partyId ? sql`and ${partyId} in (human_principal_id, agent_principal_id)` : sql``}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

export async function updateDelegationRevoked(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<DelegationRow> {
  const [row] = await sql<[DelegationRow]>`
    update delegations
    set revoked_at = clock_timestamp()
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning ${columns(sql)}`
  return row
}

/**
 * Everything that an agent may do in the name of an active person, of all active delegations together;
 * empty when there is none. Uses index delegations_by_pair.
 */
export async function selectDelegated(
  sql: Sql,
  ctx: Tenancy,
  pair: { humanPrincipalId: string; agentPrincipalId: string },
): Promise<string[]> {
  const rows = await sql<{ permission: string }[]>`
    select distinct unnest(d.permissions) as permission
    from delegations d
    join principals p
      on p.tenant_id = d.tenant_id and p.id = d.human_principal_id and p.status = 'active'
    where d.tenant_id = ${ctx.tenantId}
      and d.agent_principal_id = ${pair.agentPrincipalId}
      and d.human_principal_id = ${pair.humanPrincipalId}
      and d.revoked_at is null
      and (d.expires_at is null or d.expires_at > clock_timestamp())`
  return rows.map(({ permission }) => permission)
}
