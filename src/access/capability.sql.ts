import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface CapabilityRow {
  id: string
  name: string
  description: string
  version: number
  createdAt: Date
}

export async function insertCapability(
  sql: Sql,
  ctx: Tenancy,
  capability: Pick<CapabilityRow, 'id' | 'name' | 'description'>,
): Promise<CapabilityRow> {
  const [row] = await sql<[CapabilityRow]>`
    insert into capabilities (tenant_id, id, name, description)
    values (${ctx.tenantId}, ${capability.id}, ${capability.name}, ${capability.description})
    returning id, name, description, version, created_at`
  return row
}

export async function selectCapability(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<CapabilityRow | undefined> {
  const [row] = await sql<CapabilityRow[]>`
    select id, name, description, version, created_at
    from capabilities
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

/** Uses index capabilities_by_time. Reads one row more than the page holds. */
export async function selectCapabilities(
  sql: Sql,
  ctx: Tenancy,
  page: PageRequest,
): Promise<CapabilityRow[]> {
  return await sql<CapabilityRow[]>`
    select id, name, description, version, created_at
    from capabilities
    where tenant_id = ${ctx.tenantId}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

export async function updateCapabilityRow(
  sql: Sql,
  ctx: Tenancy,
  capability: Pick<CapabilityRow, 'id' | 'description'>,
): Promise<CapabilityRow> {
  const [row] = await sql<[CapabilityRow]>`
    update capabilities
    set description = ${capability.description}, version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${capability.id}
    returning id, name, description, version, created_at`
  return row
}
