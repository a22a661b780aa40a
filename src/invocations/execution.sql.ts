import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

/** The name of the skill that carries out tasks of a task's type; undefined when the type names none. */
export async function selectExecutionSkill(
  sql: Sql,
  ctx: Tenancy,
  taskId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ executionSkill: string | null }[]>`
    select k.execution_skill
    from tasks t
    join task_types k
      on k.tenant_id = t.tenant_id and k.key = t.type_key and k.version = t.type_version
    where t.tenant_id = ${ctx.tenantId}
      and t.id = ${taskId}`
  return row?.executionSkill ?? undefined
}
