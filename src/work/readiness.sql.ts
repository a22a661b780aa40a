import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

/** A task that has to be completed before another can begin. */
export interface Dependency {
  /** Null for a task out of the reader's reach, which holds up all the same. */
  taskId: string | null
  /** Public number, decimal text. */
  number: string
  status: string
}

/** What tasks `t` depend on and is not completed. Uses index task_relation_unique. */
function fromOpenDependencies(sql: Sql) {
  return sql`
    from task_relations r
    join tasks d on d.tenant_id = r.tenant_id and d.id = r.to_task_id
    where r.tenant_id = t.tenant_id
      and r.from_task_id = t.id
      and r.type = 'depends_on'
      and d.status_category <> 'terminal_success'`
}

/** True of tasks `t` that wait for no other. */
export function isReady(sql: Sql) {
  return sql`not exists (select ${fromOpenDependencies(sql)})`
}

/** What a task waits for, in the order of creation. */
export async function selectOpenDependencies(
  sql: Sql,
  ctx: Tenancy,
  task: { id: string; limit: number },
): Promise<Dependency[]> {
  return await sql<Dependency[]>`
    select open.task_id, open.number, open.status
    from tasks t
    cross join lateral (
      select case when true ${inReach(sql, ctx, 'd.workspace_id')} then d.id end as task_id,
             d.number, d.status
      ${fromOpenDependencies(sql)}
    ) as open
    where t.tenant_id = ${ctx.tenantId}
      and t.id = ${task.id}
    order by open.number
    limit ${task.limit}`
}
