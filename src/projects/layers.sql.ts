import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import type { ProjectLayers } from './effective-config.ts'

/** The layers of a project, and where it stands. */
export interface PlacedLayers extends ProjectLayers {
  workspaceId: string
  /** What moves with each layer. */
  templateVersion: number | null
  activeRevision: number | null
  version: number
}

function layers(sql: Sql) {
  return sql`
    p.id as project_id, p.workspace_id, p.template_version, p.active_revision, p.version, coalesce(t.config, '{}') as template,
    coalesce(r.config, '{}') as revision, p.settings`
}

function joinLayers(sql: Sql, { tenantId }: Tenancy) {
  return sql`
    left join project_templates t on t.tenant_id = ${tenantId}
      and t.key = p.template_key
      and t.version = p.template_version
    left join project_config_revisions r on r.tenant_id = ${tenantId}
      and r.project_id = p.id
      and r.revision = p.active_revision`
}

/**
 * The projects of a workspace and of those above it, the topmost first; empty when there is none. One
 * look-up by key per level and per project.
 */
export async function selectProjectLine(
  sql: Sql,
  ctx: Tenancy,
  workspaceId: string,
): Promise<PlacedLayers[]> {
  return await sql<PlacedLayers[]>`
    with recursive line as (
      select id, parent_id, 1 as step
      from workspaces
      where tenant_id = ${ctx.tenantId}
        and id = ${workspaceId}
      union all
      select w.id, w.parent_id, line.step + 1
      from line
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.id = line.parent_id
    )
    select ${layers(sql)}
    from line
    join projects p on p.tenant_id = ${ctx.tenantId} and p.workspace_id = line.id
    ${joinLayers(sql, ctx)}
    order by line.step desc`
}

export interface NestedLayers extends PlacedLayers {
  /** The nearest project above, when it stands in the same subtree. */
  parentProjectId: string | null
}

/** The projects of a workspace and of those below it, each after the one that it is nested in. */
export async function selectSubtreeLayers(
  sql: Sql,
  ctx: Tenancy,
  workspaceId: string,
): Promise<NestedLayers[]> {
  return await sql<NestedLayers[]>`
    with recursive tree as (
      select w.id, p.id as project_id, null::uuid as parent_project_id, 1 as step
      from workspaces w
      left join projects p on p.tenant_id = ${ctx.tenantId} and p.workspace_id = w.id
      where w.tenant_id = ${ctx.tenantId}
        and w.id = ${workspaceId}
      union all
      select w.id, p.id, coalesce(tree.project_id, tree.parent_project_id), tree.step + 1
      from tree
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.parent_id = tree.id
      left join projects p on p.tenant_id = ${ctx.tenantId} and p.workspace_id = w.id
    )
    select ${layers(sql)}, tree.parent_project_id
    from tree
    join projects p on p.tenant_id = ${ctx.tenantId} and p.id = tree.project_id
    ${joinLayers(sql, ctx)}
    order by tree.step, p.id`
}

/**
 * The workspaces of a project within reach, its own first: those below it that belong to no nested
 * project, or all that are below it.
 */
export async function selectProjectScope(
  sql: Sql,
  ctx: Tenancy,
  { workspaceId, includeSubprojects }: { workspaceId: string; includeSubprojects: boolean },
): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with recursive tree as (
      select id, 1 as step
      from workspaces
      where tenant_id = ${ctx.tenantId}
        and id = ${workspaceId}
      union all
      select w.id, tree.step + 1
      from tree
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.parent_id = tree.id
      where ${includeSubprojects}
         or not exists (
           select 1
           from projects nested
           where nested.tenant_id = ${ctx.tenantId}
             and nested.workspace_id = w.id)
    )
    select id
    from tree
    where true
      ${inReach(sql, ctx, 'tree.id')}
    order by step, id`
  return rows.map(({ id }) => id)
}
