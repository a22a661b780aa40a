import type { Lifecycle, NewTaskType } from '#contract/task-types.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface TaskTypeRow {
  id: string
  key: string
  version: number
  displayName: string
  description: string
  lifecycle: Lifecycle
  customFieldsSchema: Record<string, unknown> | null
  instructions: string | null
  executionSkill: string | null
  contextSchema: Record<string, unknown> | null
  approvalSchema: Record<string, unknown> | null
  artifactSchema: Record<string, unknown> | null
  createdBy: string | null
  createdAt: Date
}

function columns(sql: Sql) {
  return sql`id, key, version, display_name, description, lifecycle, custom_fields_schema,
    instructions, execution_skill, context_schema, approval_schema, artifact_schema, created_by, created_at`
}

/** The next version of a key, whose lock the caller holds. */
export async function insertTaskType(
  sql: Sql,
  ctx: Ctx,
  type: NewTaskType & { id: string },
): Promise<TaskTypeRow> {
  const json = (value: object | null) => (value === null ? null : sql.json(value as never))
  const [row] = await sql<[TaskTypeRow]>`
    insert into task_types
      (tenant_id, key, version, id, display_name, description, lifecycle, custom_fields_schema,
       instructions, execution_skill, context_schema, approval_schema, artifact_schema, created_by)
    select ${ctx.tenantId}, ${type.key}, coalesce(max(version), 0) + 1, ${type.id},
           ${type.displayName}, ${type.description}, ${json(type.lifecycleSchema)},
           ${json(type.customFieldsSchema)}, ${type.instructions}, ${type.executionSkill},
           ${json(type.contextSchema)},
           ${json(type.approvalSchema)}, ${json(type.artifactSchema)}, ${ctx.actorId}
    from task_types
    where tenant_id = ${ctx.tenantId}
      and key = ${type.key}
    returning ${columns(sql)}`
  return row
}

/** The version given, or the newest. */
export async function selectTaskType(
  sql: Sql,
  ctx: Tenancy,
  type: { key: string; version?: number | undefined },
): Promise<TaskTypeRow | undefined> {
  const { key, version } = type
  const [row] = await sql<TaskTypeRow[]>`
    select ${columns(sql)}
    from task_types
    where tenant_id = ${ctx.tenantId}
      and key = ${key}
      ${version === undefined ? sql`` : sql`and version = ${version}`}
    order by version desc
    limit 1`
  return row
}

/** Newest first. Uses index task_types_by_time. Reads one row more than the page holds. */
export async function selectTaskTypes(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; key: string | undefined; newestOnly: boolean },
): Promise<TaskTypeRow[]> {
  const { page, key, newestOnly } = filter
  return await sql<TaskTypeRow[]>`
    select ${columns(sql)}
    from task_types t
    where tenant_id = ${ctx.tenantId}
      ${key === undefined ? sql`` : sql`and key = ${key}`}
      ${newestOnly ? sql`and ${isNewest(sql)}` : sql``}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

function isNewest(sql: Sql) {
  return sql`not exists (
    select from task_types later
    where later.tenant_id = t.tenant_id
      and later.key = t.key
      and later.version > t.version)`
}
