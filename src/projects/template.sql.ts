import type { ProjectConfig } from '#contract/project-config.ts'
import type { ProjectLifecycle } from '#contract/project-templates.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'

export interface TemplateRow {
  id: string
  key: string
  version: number
  displayName: string
  description: string
  lifecycle: ProjectLifecycle
  config: ProjectConfig
  createdBy: string
  createdAt: Date
}

function columns(sql: Sql) {
  return sql`id, key, version, display_name, description, lifecycle, config, created_by, created_at`
}

/** Adds the version after the newest of the key; the caller holds the lock of the key. */
export async function insertTemplate(
  sql: Sql,
  ctx: Ctx,
  template: Omit<TemplateRow, 'version' | 'createdBy' | 'createdAt'>,
): Promise<TemplateRow> {
  const { id, key, displayName, description, lifecycle, config } = template
  const [row] = await sql<[TemplateRow]>`
    insert into project_templates
      (tenant_id, id, key, version, display_name, description, lifecycle, config, created_by)
    select ${ctx.tenantId}, ${id}, ${key}, coalesce(max(version), 0) + 1, ${displayName},
           ${description}, ${sql.json(lifecycle)}, ${sql.json(config as never)},
           ${ctx.actorId}
    from project_templates
    where tenant_id = ${ctx.tenantId}
      and key = ${key}
    returning ${columns(sql)}`
  return row
}

export async function selectTemplate(
  sql: Sql,
  ctx: Ctx,
  id: string,
): Promise<TemplateRow | undefined> {
  const [row] = await sql<TemplateRow[]>`
    select ${columns(sql)}
    from project_templates
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

/** A version of a template, or the newest. Uses index one_template_per_version. */
export async function selectTemplateVersion(
  sql: Sql,
  ctx: Ctx,
  template: { key: string; version: number | undefined },
): Promise<TemplateRow | undefined> {
  const { key, version } = template
  const [row] = await sql<TemplateRow[]>`
    select ${columns(sql)}
    from project_templates
    where tenant_id = ${ctx.tenantId}
      and key = ${key}
      ${version === undefined ? sql`` : sql`and version = ${version}`}
    order by version desc
    limit 1`
  return row
}

/** Newest first. Uses index project_templates_by_time. Reads one row more than the page holds. */
export async function selectTemplates(
  sql: Sql,
  ctx: Ctx,
  filter: { page: PageRequest; key: string | undefined; newestOnly: boolean },
): Promise<TemplateRow[]> {
  const { page, key, newestOnly } = filter
  return await sql<TemplateRow[]>`
    select ${columns(sql)}
    from project_templates t
    where tenant_id = ${ctx.tenantId}
      ${key === undefined ? sql`` : sql`and key = ${key}`}
      ${
        newestOnly
          ? sql`and not exists (
        select 1
        from project_templates later
        where later.tenant_id = ${ctx.tenantId}
          and later.key = t.key
          and later.version > t.version)`
          : sql``
      }
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}
