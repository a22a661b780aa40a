import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { ParentRule, WorkspaceTypeRow } from './workspace-type.ts'

type Fields = Omit<WorkspaceTypeRow, 'version' | 'createdAt'>

/** @returns undefined when the tenant has a type of this key already */
export async function insertWorkspaceType(
  sql: Sql,
  ctx: Ctx,
  type: Fields,
): Promise<WorkspaceTypeRow | undefined> {
  const { id, key, displayName, description, allowRoot } = type
  const parentTypes = type.parentTypes && [...type.parentTypes]
  const [row] = await sql<WorkspaceTypeRow[]>`
    insert into workspace_types
      (tenant_id, id, key, display_name, description, allow_root, parent_types)
    values
      (${ctx.tenantId}, ${id}, ${key}, ${displayName}, ${description}, ${allowRoot},
       ${parentTypes}::text[])
    on conflict on constraint workspace_type_key_unique do nothing
    returning id, key, display_name, description, allow_root, parent_types, version, created_at`
  return row
}

export async function selectWorkspaceType(
  sql: Sql,
  ctx: Ctx,
  key: string,
): Promise<WorkspaceTypeRow | undefined> {
  const [row] = await sql<WorkspaceTypeRow[]>`
    select id, key, display_name, description, allow_root, parent_types, version, created_at
    from workspace_types
    where tenant_id = ${ctx.tenantId}
      and key = ${key}`
  return row
}

/** Uses index workspace_types_by_time. Reads one row more than the page holds. */
export async function selectWorkspaceTypes(
  sql: Sql,
  ctx: Ctx,
  page: PageRequest,
): Promise<WorkspaceTypeRow[]> {
  return await sql<WorkspaceTypeRow[]>`
    select id, key, display_name, description, allow_root, parent_types, version, created_at
    from workspace_types
    where tenant_id = ${ctx.tenantId}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/** The keys among those given that the tenant has. */
export async function selectKnownTypeKeys(
  sql: Sql,
  ctx: Ctx,
  keys: readonly string[],
): Promise<string[]> {
  const rows = await sql<{ key: string }[]>`
    select key
    from workspace_types
    where tenant_id = ${ctx.tenantId}
      and key = any(${[...keys]}::text[])`
  return rows.map(({ key }) => key)
}

export async function updateWorkspaceTypeRow(
  sql: Sql,
  ctx: Ctx,
  type: Omit<Fields, 'key'>,
): Promise<WorkspaceTypeRow> {
  const { id, displayName, description, allowRoot } = type
  const parentTypes = type.parentTypes && [...type.parentTypes]
  const [row] = await sql<[WorkspaceTypeRow]>`
    update workspace_types
    set display_name = ${displayName},
        description = ${description},
        allow_root = ${allowRoot},
        parent_types = ${parentTypes}::text[],
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning id, key, display_name, description, allow_root, parent_types, version, created_at`
  return row
}

/** The rules of the active workspaces directly below one. */
export async function selectChildRules(
  sql: Sql,
  ctx: Ctx,
  workspaceId: string,
): Promise<ParentRule[]> {
  return await sql<ParentRule[]>`
    select distinct t.key, t.allow_root, t.parent_types
    from workspaces w
    join workspace_types t on t.tenant_id = w.tenant_id and t.key = w.type_key
    where w.tenant_id = ${ctx.tenantId}
      and w.parent_id = ${workspaceId}
      and w.status = 'active'`
}
