import type { Ctx } from '#lib/ctx.ts'
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
