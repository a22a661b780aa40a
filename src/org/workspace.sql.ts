import type { WorkspaceStatus } from '#contract/workspaces.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import type { WorkspaceRow } from './workspace.ts'

export async function insertWorkspace(
  sql: Sql,
  ctx: Ctx,
  workspace: {
    id: string
    parentId: string | null
    slug: string
    name: string
    typeKey: string | null
  },
): Promise<WorkspaceRow> {
  const { id, parentId, slug, name, typeKey } = workspace
  const [row] = await sql<[WorkspaceRow]>`
    insert into workspaces (tenant_id, id, parent_id, slug, name, type_key)
    values (${ctx.tenantId}, ${id}, ${parentId}, ${slug}, ${name}, ${typeKey})
    returning id, parent_id, slug, name, status, type_key, version, created_at`
  return row
}

/** A workspace of the caller's tenant and within reach; anything else does not exist. */
export async function selectWorkspace(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<WorkspaceRow | undefined> {
  const [row] = await sql<WorkspaceRow[]>`
    select id, parent_id, slug, name, status, type_key, version, created_at
    from workspaces
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      ${inReach(sql, ctx, 'workspaces.id')}`
  return row
}

/** Uses index workspaces_by_time. Reads one row more than the page holds. */
export async function selectWorkspaces(
  sql: Sql,
  ctx: Ctx,
  filter: {
    page: PageRequest
    parentId: string | undefined
    status: WorkspaceStatus | undefined
  },
): Promise<WorkspaceRow[]> {
  return await sql<WorkspaceRow[]>`
    select id, parent_id, slug, name, status, type_key, version, created_at
    from workspaces
    where tenant_id = ${ctx.tenantId}
      ${filter.parentId ? sql`and parent_id = ${filter.parentId}` : sql``}
      ${filter.status ? sql`and status = ${filter.status}` : sql``}
      ${inReach(sql, ctx, 'workspaces.id')}
      ${olderThan(sql, filter.page)}
    order by created_at desc, id desc
    limit ${filter.page.limit + 1}`
}

/**
 * The line from a workspace up to its root, the workspace itself first; empty when the tenant has no
 * such workspace or it is out of reach. What is above is part of the line wherever the reach ends. One look-up by primary key per level.
 */
export async function selectAncestors(sql: Sql, ctx: Tenancy, id: string): Promise<WorkspaceRow[]> {
  return await sql<WorkspaceRow[]>`
    with recursive line as (
      select id, parent_id, slug, name, status, type_key, version, created_at, 1 as step
      from workspaces
      where tenant_id = ${ctx.tenantId}
        and id = ${id}
        ${inReach(sql, ctx, 'workspaces.id')}
      union all
      select w.id, w.parent_id, w.slug, w.name, w.status, w.type_key, w.version, w.created_at, line.step + 1
      from line
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.id = line.parent_id
    )
    select id, parent_id, slug, name, status, type_key, version, created_at
    from line
    order by step`
}

/**
 * A workspace and everything below it, parents before children; everything within reach when no
 * root is given. Uses index workspace_slug_unique, one look-up per workspace found.
 */
export async function selectSubtree(
  sql: Sql,
  ctx: Ctx,
  rootId: string | undefined,
): Promise<WorkspaceRow[]> {
  const top = rootId ?? (ctx.reach?.kind === 'subtree' ? ctx.reach.workspaceId : undefined)
  return await sql<WorkspaceRow[]>`
    with recursive tree as (
      select id, parent_id, slug, name, status, type_key, version, created_at, 1 as step
      from workspaces
      where tenant_id = ${ctx.tenantId}
        and ${top ? sql`id = ${top}` : sql`parent_id is null`}
      union all
      select w.id, w.parent_id, w.slug, w.name, w.status, w.type_key, w.version, w.created_at, tree.step + 1
      from tree
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.parent_id = tree.id
    )
    select id, parent_id, slug, name, status, type_key, version, created_at
    from tree
    where true
      ${inReach(sql, ctx, 'tree.id')}
    order by step, slug`
}

export async function selectHasActiveChild(sql: Sql, ctx: Ctx, id: string): Promise<boolean> {
  const rows = await sql`
    select 1
    from workspaces
    where tenant_id = ${ctx.tenantId}
      and parent_id = ${id}
      and status = 'active'
    limit 1`
  return rows.length > 0
}

export async function updateWorkspaceRow(
  sql: Sql,
  ctx: Ctx,
  workspace: Pick<WorkspaceRow, 'id' | 'slug' | 'name' | 'status' | 'typeKey'>,
): Promise<WorkspaceRow> {
  const { id, slug, name, status, typeKey } = workspace
  const [row] = await sql<[WorkspaceRow]>`
    update workspaces
    set slug = ${slug},
        name = ${name},
        status = ${status},
        type_key = ${typeKey},
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning id, parent_id, slug, name, status, type_key, version, created_at`
  return row
}

export async function updateWorkspaceParent(
  sql: Sql,
  ctx: Ctx,
  workspace: { id: string; parentId: string | null },
): Promise<WorkspaceRow> {
  const { id, parentId } = workspace
  const [row] = await sql<[WorkspaceRow]>`
    update workspaces
    set parent_id = ${parentId}, version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning id, parent_id, slug, name, status, type_key, version, created_at`
  return row
}

/** How many levels a workspace and what is below it take; 1 for a leaf. */
export async function selectHeight(sql: Sql, ctx: Ctx, id: string): Promise<number> {
  const [row] = await sql<{ height: number }[]>`
    with recursive tree as (
      select id, 1 as step
      from workspaces
      where tenant_id = ${ctx.tenantId}
        and id = ${id}
      union all
      select w.id, tree.step + 1
      from tree
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.parent_id = tree.id
    )
    select max(step) as height
    from tree`
  return row?.height ?? 0
}
