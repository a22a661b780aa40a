import type { Ctx } from '#lib/ctx.ts'
import type { Sql } from '#db/sql.ts'

export interface TenantRow {
  id: string
  slug: string
  name: string
  createdAt: Date
}

/** Marks the installation as bootstrapped for `ctx.tenantId`; false when it already was. */
export async function insertInstallation(sql: Sql, ctx: Ctx): Promise<boolean> {
  const rows = await sql`
    insert into installation (tenant_id)
    values (${ctx.tenantId})
    on conflict (only_row) do nothing
    returning tenant_id`
  return rows.length > 0
}

/** The tenant made by the bootstrap of this installation, if there was one. */
export async function selectInstallation(sql: Sql): Promise<string | undefined> {
  const [row] = await sql<{ tenantId: string }[]>`
    select tenant_id
    from installation
    where only_row`
  return row?.tenantId
}

export async function insertTenant(
  sql: Sql,
  ctx: Ctx,
  tenant: { slug: string; name: string },
): Promise<TenantRow> {
  const [row] = await sql<[TenantRow]>`
    insert into tenants (tenant_id, slug, name)
    values (${ctx.tenantId}, ${tenant.slug}, ${tenant.name})
    returning tenant_id as id, slug, name, created_at`
  return row
}

export async function selectTenant(sql: Sql, ctx: Ctx): Promise<TenantRow | undefined> {
  const [row] = await sql<TenantRow[]>`
    select tenant_id as id, slug, name, created_at
    from tenants
    where tenant_id = ${ctx.tenantId}`
  return row
}

/** A tenant by its slug; without one, the tenant of this installation's bootstrap. */
export async function selectTenantBySlug(
  sql: Sql,
  slug: string | undefined,
): Promise<TenantRow | undefined> {
  const [row] = await sql<TenantRow[]>`
    select tenant_id as id, slug, name, created_at
    from tenants
    where ${
      slug === undefined
        ? sql`tenant_id = (select tenant_id from installation where only_row)`
        : sql`slug = ${slug}`
    }`
  return row
}
