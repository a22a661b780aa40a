import type { ProjectConfig } from '#contract/project-config.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'

export interface RevisionRow {
  id: string
  projectId: string
  revision: number
  config: ProjectConfig
  comment: string | null
  createdBy: string
  createdAt: Date
}

function columns(sql: Sql) {
  return sql`id, project_id, revision, config, comment, created_by, created_at`
}

/** Adds the next revision of a project; the project's counter orders writers. */
export async function insertRevision(
  sql: Sql,
  ctx: Ctx,
  revision: Pick<RevisionRow, 'id' | 'projectId' | 'config' | 'comment'>,
): Promise<RevisionRow> {
  const { id, projectId, config, comment } = revision
  const [row] = await sql<[RevisionRow]>`
    with counter as (
      update projects
      set last_revision = last_revision + 1
      where tenant_id = ${ctx.tenantId}
        and id = ${projectId}
      returning last_revision)
    insert into project_config_revisions
      (tenant_id, project_id, revision, id, config, comment, created_by)
    select ${ctx.tenantId}, ${projectId}, last_revision, ${id}, ${sql.json(config as never)},
           ${comment}, ${ctx.actorId}
    from counter
    returning ${columns(sql)}`
  return row
}

export async function selectRevision(
  sql: Sql,
  ctx: Ctx,
  { projectId, revision }: { projectId: string; revision: number },
): Promise<RevisionRow | undefined> {
  const [row] = await sql<RevisionRow[]>`
    select ${columns(sql)}
    from project_config_revisions
    where tenant_id = ${ctx.tenantId}
      and project_id = ${projectId}
      and revision = ${revision}`
  return row
}

/** Newest first. Uses the primary key. Reads one row more than the page holds. */
export async function selectRevisions(
  sql: Sql,
  ctx: Ctx,
  { projectId, page }: { projectId: string; page: PageRequest },
): Promise<RevisionRow[]> {
  return await sql<RevisionRow[]>`
    select ${columns(sql)}
    from project_config_revisions
    where tenant_id = ${ctx.tenantId}
      and project_id = ${projectId}
      ${
        page.after === undefined
          ? sql``
          : sql`and revision < (
        select last.revision
        from project_config_revisions last
        where last.tenant_id = ${ctx.tenantId}
          and last.project_id = ${projectId}
          and last.id = ${page.after.id})`
      }
    order by revision desc
    limit ${page.limit + 1}`
}
