import type { ProjectSettings } from '#contract/project-config.ts'
import type { ProjectLifecycle } from '#contract/project-templates.ts'
import type { ProjectRecordStatus } from '#contract/projects.ts'
import type { StatusCategory } from '#contract/task-types.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'

export interface ProjectRow {
  id: string
  workspaceId: string
  /** The name of the workspace. */
  name: string
  parentProjectId: string | null
  templateKey: string | null
  templateVersion: number | null
  statusKey: string
  statusCategory: StatusCategory
  status: ProjectRecordStatus
  ownerId: string | null
  startDate: string | null
  targetDate: string | null
  settings: ProjectSettings
  activeRevision: number | null
  version: number
  createdBy: string
  createdAt: Date
  updatedAt: Date
}

/** The fields of a project that are changed in place. */
export type ProjectFields = Pick<ProjectRow, 'ownerId' | 'startDate' | 'targetDate' | 'settings'>

function columns(sql: Sql) {
  return sql`
    p.id, p.workspace_id, own.name, parent.id as parent_project_id, p.template_key,
    p.template_version, p.status_key, p.status_category, p.status, p.owner_id,
    p.start_date::text as start_date, p.target_date::text as target_date, p.settings,
    p.active_revision, p.version, p.created_by, p.created_at, p.updated_at`
}

/** The project of the nearest workspace above that has one: a walk up that ends there. */
function joinPlace(sql: Sql, ctx: Ctx) {
  return sql`
    join workspaces own on own.tenant_id = ${ctx.tenantId} and own.id = p.workspace_id
    left join lateral (
      with recursive line as (
        select own.parent_id as id, 1 as step
        union all
        select w.parent_id, line.step + 1
        from line
        join workspaces w on w.tenant_id = ${ctx.tenantId} and w.id = line.id
        where not exists (
          select 1
          from projects nearer
          where nearer.tenant_id = ${ctx.tenantId}
            and nearer.workspace_id = line.id)
      )
      select above.id
      from line
      join projects above on above.tenant_id = ${ctx.tenantId} and above.workspace_id = line.id
      order by line.step
      limit 1
    ) parent on true`
}

export async function insertProject(
  sql: Sql,
  ctx: Ctx,
  project: ProjectFields &
    Pick<
      ProjectRow,
      'id' | 'workspaceId' | 'templateKey' | 'templateVersion' | 'statusKey' | 'statusCategory'
    >,
): Promise<void> {
  const { id, workspaceId, templateKey, templateVersion, statusKey, statusCategory } = project
  const { ownerId, startDate, targetDate, settings } = project
  await sql`
    insert into projects
      (tenant_id, id, workspace_id, template_key, template_version, status_key, status_category,
       owner_id, start_date, target_date, settings, created_by)
    values
      (${ctx.tenantId}, ${id}, ${workspaceId}, ${templateKey}, ${templateVersion}, ${statusKey},
       ${statusCategory}, ${ownerId}, ${startDate}::text::date, ${targetDate}::text::date,
       ${sql.json(settings as never)}, ${ctx.actorId})`
}

export async function selectProject(
  sql: Sql,
  ctx: Ctx,
  id: string,
): Promise<ProjectRow | undefined> {
  const [row] = await sql<ProjectRow[]>`
    select ${columns(sql)}
    from projects p
    ${joinPlace(sql, ctx)}
    where p.tenant_id = ${ctx.tenantId}
      and p.id = ${id}
      ${inReach(sql, ctx, 'p.workspace_id')}`
  return row
}

/** Newest first. Uses index projects_by_time. Reads one row more than the page holds. */
export async function selectProjects(
  sql: Sql,
  ctx: Ctx,
  filter: {
    page: PageRequest
    status: ProjectRecordStatus | undefined
    statusCategory: StatusCategory | undefined
    ownerId: string | undefined
    workspaceIds: readonly string[] | undefined
  },
): Promise<ProjectRow[]> {
  const { page, status, statusCategory, ownerId, workspaceIds } = filter
  const { after } = page
  return await sql<ProjectRow[]>`
    select ${columns(sql)}
    from projects p
    ${joinPlace(sql, ctx)}
    where p.tenant_id = ${ctx.tenantId}
      ${inReach(sql, ctx, 'p.workspace_id')}
      ${status === undefined ? sql`` : sql`and p.status = ${status}`}
      ${statusCategory === undefined ? sql`` : sql`and p.status_category = ${statusCategory}`}
      ${ownerId === undefined ? sql`` : sql`and p.owner_id = ${ownerId}`}
      ${workspaceIds === undefined ? sql`` : sql`and p.workspace_id = any(${[...workspaceIds]}::uuid[])`}
      ${after ? sql`and (p.created_at, p.id) < (${after.createdAt}, ${after.id})` : sql``}
    order by p.created_at desc, p.id desc
    limit ${page.limit + 1}`
}

/** The lifecycle of a project's template; undefined without a template. */
export async function selectLifecycle(
  sql: Sql,
  ctx: Ctx,
  projectId: string,
): Promise<ProjectLifecycle | undefined> {
  const [row] = await sql<{ lifecycle: ProjectLifecycle }[]>`
    select t.lifecycle
    from projects p
    join project_templates t on t.tenant_id = p.tenant_id
      and t.key = p.template_key
      and t.version = p.template_version
    where p.tenant_id = ${ctx.tenantId}
      and p.id = ${projectId}`
  return row?.lifecycle
}

export async function updateProjectFields(
  sql: Sql,
  ctx: Ctx,
  project: ProjectFields & { id: string },
): Promise<void> {
  const { id, ownerId, startDate, targetDate, settings } = project
  await sql`
    update projects
    set owner_id = ${ownerId},
        start_date = ${startDate}::text::date,
        target_date = ${targetDate}::text::date,
        settings = ${sql.json(settings as never)},
        version = version + 1,
        updated_at = now()
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
}

export async function updateProjectStatus(
  sql: Sql,
  ctx: Ctx,
  project: Pick<ProjectRow, 'id' | 'statusKey' | 'statusCategory' | 'status'>,
): Promise<void> {
  const { id, statusKey, statusCategory, status } = project
  await sql`
    update projects
    set status_key = ${statusKey},
        status_category = ${statusCategory},
        status = ${status},
        version = version + 1,
        updated_at = now()
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
}

export async function updateActiveRevision(
  sql: Sql,
  ctx: Ctx,
  project: { id: string; activeRevision: number },
): Promise<void> {
  const { id, activeRevision } = project
  await sql`
    update projects
    set active_revision = ${activeRevision},
        version = version + 1,
        updated_at = now()
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
}
