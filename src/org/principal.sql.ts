import type { Ctx, Tenancy } from '#lib/ctx.ts'
import type { PrincipalKind, PrincipalStatus } from '#contract/org.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'

export interface PrincipalRow {
  id: string
  kind: PrincipalKind
  displayName: string
  status: PrincipalStatus
  version: number
  createdAt: Date
}

export async function insertPrincipal(
  sql: Sql,
  ctx: Ctx,
  principal: { id: string; kind: PrincipalKind; displayName: string },
): Promise<PrincipalRow> {
  const { id, kind, displayName } = principal
  const [row] = await sql<[PrincipalRow]>`
    insert into principals (tenant_id, id, kind, display_name)
    values (${ctx.tenantId}, ${id}, ${kind}, ${displayName})
    returning id, kind, display_name, status, version, created_at`
  return row
}

export async function selectPrincipal(
  sql: Sql,
  ctx: Ctx,
  id: string,
): Promise<PrincipalRow | undefined> {
  const [row] = await sql<PrincipalRow[]>`
    select id, kind, display_name, status, version, created_at
    from principals
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

/** Uses index principals_by_time. Reads one row more than the page holds. */
export async function selectPrincipals(
  sql: Sql,
  ctx: Ctx,
  filter: { page: PageRequest; kind: PrincipalKind | undefined },
): Promise<PrincipalRow[]> {
  return await sql<PrincipalRow[]>`
    select id, kind, display_name, status, version, created_at
    from principals
    where tenant_id = ${ctx.tenantId}
      ${filter.kind ? sql`and kind = ${filter.kind}` : sql``}
      ${olderThan(sql, filter.page)}
    order by created_at desc, id desc
    limit ${filter.page.limit + 1}`
}

export async function updatePrincipalRow(
  sql: Sql,
  ctx: Ctx,
  principal: { id: string; displayName: string; status: PrincipalStatus },
): Promise<PrincipalRow> {
  const { id, displayName, status } = principal
  const [row] = await sql<[PrincipalRow]>`
    update principals
    set display_name = ${displayName}, status = ${status}, version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning id, kind, display_name, status, version, created_at`
  return row
}

/**
 * Whether anybody could administer the tenant now: an active person with a live key or an active binding
 * that carries `admin` for the whole tenant. Keys made for an emergency do not count: they end by themselves.
 */
export async function selectHasAdmin(sql: Sql, ctx: Ctx): Promise<boolean> {
  const rows = await sql`
    select 1
    from principals p
    where p.tenant_id = ${ctx.tenantId}
      and p.kind = 'human'
      and p.status = 'active'
      and (exists (
          select 1
          from api_keys k
          where k.tenant_id = p.tenant_id
            and k.principal_id = p.id
            and 'admin' = any(k.permissions)
            and k.workspace_id is null
            and k.break_glass_reason is null
            and k.revoked_at is null
            and (k.expires_at is null or k.expires_at > clock_timestamp()))
        or exists (
          select 1
          from iam_bindings b
          where b.tenant_id = p.tenant_id
            and b.principal_id = p.id
            and 'admin' = any(b.permissions)
            and b.workspace_id is null
            and b.status = 'active'))
    limit 1`
  return rows.length > 0
}

/** The active person with this id, or the one that the tenant has known longest. */
export async function selectRescuer(
  sql: Sql,
  ctx: Tenancy,
  id: string | undefined,
): Promise<PrincipalRow | undefined> {
  const [row] = await sql<PrincipalRow[]>`
    select id, kind, display_name, status, version, created_at
    from principals
    where tenant_id = ${ctx.tenantId}
      and kind = 'human'
      and status = 'active'
      ${id === undefined ? sql`` : sql`and id = ${id}`}
    order by created_at, id
    limit 1`
  return row
}

/** What a principal may do by any live key or active binding; `whole`: without those limited to a workspace. */
export async function selectPermissionsOf(
  sql: Sql,
  ctx: Tenancy,
  { id, whole = false }: { id: string; whole?: boolean },
): Promise<string[]> {
  const places = whole ? sql`and workspace_id is null` : sql``
  const rows = await sql<{ permission: string }[]>`
    select distinct unnest(permissions) as permission
    from (
      select permissions
      from api_keys
      where tenant_id = ${ctx.tenantId}
        and principal_id = ${id}
        and revoked_at is null
        and (expires_at is null or expires_at > clock_timestamp())
        ${places}
      union all
      select permissions
      from iam_bindings
      where tenant_id = ${ctx.tenantId}
        and principal_id = ${id}
        and status = 'active'
        ${places}) as held`
  return rows.map(({ permission }) => permission)
}
