import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface RelatedTaskRow {
  id: string
  type: string
  direction: 'out' | 'in'
  taskId: string
  /** Public number, decimal text. */
  taskNumber: string
  taskTitle: string
  taskStatus: string
}

/**
 * The tasks that a task is related to, the oldest relation first. Uses indexes task_relation_unique and
 * task_relations_by_target.
 */
export async function selectRelatedTasks(
  sql: Sql,
  ctx: Tenancy,
  task: { id: string; limit: number },
): Promise<RelatedTaskRow[]> {
  return await sql<RelatedTaskRow[]>`
    select r.id, r.type, r.direction, t.id as task_id, t.number as task_number,
           t.title as task_title, t.status as task_status
    from (
      select id, type, 'out' as direction, to_task_id as other_id, created_at
      from task_relations
      where tenant_id = ${ctx.tenantId}
        and from_task_id = ${task.id}
      union all
      select id, type, 'in', from_task_id, created_at
      from task_relations
      where tenant_id = ${ctx.tenantId}
        and to_task_id = ${task.id}
    ) as r
    join tasks t on t.tenant_id = ${ctx.tenantId} and t.id = r.other_id
    where true
      ${inReach(sql, ctx, 't.workspace_id')}
    order by r.created_at, r.id
    limit ${task.limit}`
}

export interface InputRow {
  artifactId: string
  type: string
  name: string
  sourceTaskId: string
  /** Public number, decimal text. */
  sourceTaskNumber: string
  relation: string
  mediaType: string | null
  sizeBytes: number | null
  uri: string | null
}

/**
 * The newest revisions of what the tasks produced that a task depends on, the oldest first. Uses indexes
 * task_relation_unique, artifacts_by_task and one_successor_per_artifact.
 */
export async function selectInputs(
  sql: Sql,
  ctx: Tenancy,
  task: { id: string; limit: number },
): Promise<InputRow[]> {
  return await sql<InputRow[]>`
    select a.id as artifact_id, a.type, a.name, t.id as source_task_id,
           t.number as source_task_number, r.type as relation, a.media_type, a.size_bytes, a.uri
    from task_relations r
    join tasks t on t.tenant_id = r.tenant_id and t.id = r.to_task_id
    join artifacts a on a.tenant_id = r.tenant_id and a.task_id = t.id
    where r.tenant_id = ${ctx.tenantId}
      and r.from_task_id = ${task.id}
      and r.type = 'depends_on'
      ${inReach(sql, ctx, 'a.workspace_id')}
      and not exists (
        select 1
        from artifacts next
        where next.tenant_id = a.tenant_id
          and next.supersedes_artifact_id = a.id)
    order by a.created_at, a.id
    limit ${task.limit}`
}
