import type { RelationType } from '#contract/relations.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface RelationRow {
  id: string
  type: RelationType
  fromTaskId: string
  /** Public number, decimal text. */
  fromNumber: string
  toTaskId: string
  toNumber: string
  createdBy: string
  createdAt: Date
}

/** Relations `r` with the tasks they join. */
function selectJoined(sql: Sql) {
  return sql`
    select r.id, r.type, r.from_task_id, f.number as from_number, r.to_task_id,
           t.number as to_number, r.created_by, r.created_at
    from task_relations r
    join tasks f on f.tenant_id = r.tenant_id and f.id = r.from_task_id
    join tasks t on t.tenant_id = r.tenant_id and t.id = r.to_task_id`
}

export async function insertRelation(
  sql: Sql,
  ctx: Ctx,
  relation: Pick<RelationRow, 'id' | 'type' | 'fromTaskId' | 'toTaskId'>,
): Promise<void> {
  const { id, type, fromTaskId, toTaskId } = relation
  await sql`
    insert into task_relations (tenant_id, id, type, from_task_id, to_task_id, created_by)
    values (${ctx.tenantId}, ${id}, ${type}, ${fromTaskId}, ${toTaskId}, ${ctx.actorId})`
}

export async function selectRelation(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<RelationRow | undefined> {
  const [row] = await sql<RelationRow[]>`
    ${selectJoined(sql)}
    where r.tenant_id = ${ctx.tenantId}
      and r.id = ${id}
      ${inReach(sql, ctx, 'f.workspace_id')}
      ${inReach(sql, ctx, 't.workspace_id')}`
  return row
}

/**
 * Newest first, without those to tasks out of reach. Uses indexes task_relation_unique and task_relations_by_target. Reads one row more than
 * the page holds.
 */
export async function selectRelations(
  sql: Sql,
  ctx: Tenancy,
  filter: {
    page: PageRequest
    taskId: string
    type: RelationType | undefined
    direction: 'out' | 'in' | 'both'
  },
): Promise<RelationRow[]> {
  const { page, taskId, type, direction } = filter
  const isOut = sql`r.from_task_id = ${taskId}`
  const isIn = sql`r.to_task_id = ${taskId}`
  const ends = { out: isOut, in: isIn, both: sql`(${isOut} or ${isIn})` }
  return await sql<RelationRow[]>`
    select *
    from (
      ${selectJoined(sql)}
      where r.tenant_id = ${ctx.tenantId}
        and ${ends[direction]}
        ${type === undefined ? sql`` : sql`and r.type = ${type}`}
        ${inReach(sql, ctx, 'f.workspace_id')}
        ${inReach(sql, ctx, 't.workspace_id')}
    ) as found
    where true
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/** False when it was gone already. */
export async function deleteRelation(sql: Sql, ctx: Tenancy, id: string): Promise<boolean> {
  const rows = await sql`
    delete from task_relations
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
    returning id`
  return rows.length === 1
}

/**
 * Whether relations of a type lead from one task to another. Reads every task that can be reached, each
 * once. Uses index task_relation_unique.
 */
export async function selectLeadsTo(
  sql: Sql,
  ctx: Tenancy,
  way: { type: RelationType; fromTaskId: string; toTaskId: string },
): Promise<boolean> {
  const { type, fromTaskId, toTaskId } = way
  const rows = await sql`
    with recursive reached as (
      select ${fromTaskId}::uuid as id
      union
      select r.to_task_id
      from reached
      join task_relations r
        on r.tenant_id = ${ctx.tenantId} and r.from_task_id = reached.id and r.type = ${type}
    )
    select 1
    from reached
    where id = ${toTaskId}
    limit 1`
  return rows.length > 0
}
