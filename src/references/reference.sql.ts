import type { Referenced } from '#contract/external-references.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface ReferenceRow {
  id: string
  system: string
  type: string
  externalId: string
  url: string | null
  entityType: Referenced
  entityId: string
  createdBy: string
  createdAt: Date
}

/** A name elsewhere: what is unique in a tenant. */
export type ReferenceKey = Pick<ReferenceRow, 'system' | 'type' | 'externalId'>

function columns(sql: Sql) {
  return sql`id, system, type, external_id, url,
    case when task_id is not null then 'task'
         when workspace_id is not null then 'workspace'
         else 'artifact' end as entity_type,
    coalesce(task_id, workspace_id, artifact_id) as entity_id, created_by, created_at`
}

function isOf(sql: Sql, type: Referenced, id: string) {
  const conditions = {
    task: sql`task_id = ${id}`,
    workspace: sql`workspace_id = ${id}`,
    artifact: sql`artifact_id = ${id}`,
  }
  return conditions[type]
}

/** Undefined when the name is taken; waits for another transaction that is taking it. */
export async function insertReference(
  sql: Sql,
  ctx: Ctx,
  reference: Pick<ReferenceRow, 'id' | 'url' | 'entityType' | 'entityId'> & ReferenceKey,
): Promise<ReferenceRow | undefined> {
  const { id, system, type, externalId, url, entityType, entityId } = reference
  const idIf = (kind: Referenced) => (entityType === kind ? entityId : null)
  const [row] = await sql<ReferenceRow[]>`
    insert into external_references
      (tenant_id, id, system, type, external_id, url, task_id, workspace_id, artifact_id, created_by)
    values
      (${ctx.tenantId}, ${id}, ${system}, ${type}, ${externalId}, ${url}, ${idIf('task')},
       ${idIf('workspace')}, ${idIf('artifact')}, ${ctx.actorId})
    on conflict on constraint external_reference_unique do nothing
    returning ${columns(sql)}`
  return row
}

/** Uses index external_reference_unique. */
export async function selectReferenceByKey(
  sql: Sql,
  ctx: Tenancy,
  key: ReferenceKey,
): Promise<ReferenceRow | undefined> {
  const [row] = await sql<ReferenceRow[]>`
    select ${columns(sql)}
    from external_references
    where tenant_id = ${ctx.tenantId}
      and system = ${key.system}
      and type = ${key.type}
      and external_id = ${key.externalId}`
  return row
}

/**
 * Of one thing, newest first. Uses indexes external_references_of_task, external_references_of_workspace,
 * external_references_of_artifact. Reads one row more than the page holds.
 */
export async function selectReferences(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; entity: { type: Referenced; id: string } },
): Promise<ReferenceRow[]> {
  const { page, entity } = filter
  return await sql<ReferenceRow[]>`
    select ${columns(sql)}
    from external_references
    where tenant_id = ${ctx.tenantId}
      and ${isOf(sql, entity.type, entity.id)}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/** What was removed; undefined when the thing has no such name. */
export async function deleteReference(
  sql: Sql,
  ctx: Tenancy,
  reference: { id: string; entity: { type: Referenced; id: string } },
): Promise<ReferenceRow | undefined> {
  const { id, entity } = reference
  const [row] = await sql<ReferenceRow[]>`
    delete from external_references
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      and ${isOf(sql, entity.type, entity.id)}
    returning ${columns(sql)}`
  return row
}
