import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReachOrShared } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface RoleRow {
  id: string
  /** Null when the role belongs to the whole tenant. */
  workspaceId: string | null
  slug: string
  name: string
  description: string
  version: number
  createdAt: Date
}

export type RoleFields = Pick<RoleRow, 'slug' | 'name' | 'description'>

export async function insertRole(
  sql: Sql,
  ctx: Tenancy,
  role: RoleFields & Pick<RoleRow, 'id' | 'workspaceId'>,
): Promise<RoleRow> {
  const [row] = await sql<[RoleRow]>`
    insert into roles (tenant_id, id, workspace_id, slug, name, description)
    values (${ctx.tenantId}, ${role.id}, ${role.workspaceId}, ${role.slug}, ${role.name},
            ${role.description})
    returning id, workspace_id, slug, name, description, version, created_at`
  return row
}

export async function selectRole(sql: Sql, ctx: Tenancy, id: string): Promise<RoleRow | undefined> {
  const [row] = await sql<RoleRow[]>`
    select id, workspace_id, slug, name, description, version, created_at
    from roles
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      ${inReachOrShared(sql, ctx, 'roles.workspace_id')}`
  return row
}

/**
 * Uses index roles_by_time. With `knownAt`, only roles of the tenant and of these workspaces. Reads one
 * row more than the page holds.
 */
export async function selectRoles(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; knownAt: readonly string[] | undefined },
): Promise<RoleRow[]> {
  const { page, knownAt } = filter
  return await sql<RoleRow[]>`
    select id, workspace_id, slug, name, description, version, created_at
    from roles
    where tenant_id = ${ctx.tenantId}
      ${knownAt ? sql`and (workspace_id is null or workspace_id = any(${[...knownAt]}::uuid[]))` : sql``}
      ${inReachOrShared(sql, ctx, 'roles.workspace_id')}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

export async function updateRoleRow(
  sql: Sql,
  ctx: Tenancy,
  role: RoleFields & Pick<RoleRow, 'id'>,
): Promise<RoleRow> {
  const [row] = await sql<[RoleRow]>`
    update roles
    set slug = ${role.slug}, name = ${role.name}, description = ${role.description},
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${role.id}
    returning id, workspace_id, slug, name, description, version, created_at`
  return row
}
