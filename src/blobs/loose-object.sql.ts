import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

/** Writes down an object before it is made, to be removed after a while unless it is kept by then. */
export async function insertLooseObject(
  sql: Sql,
  ctx: Pick<Tenancy, 'tenantId'>,
  { objectKey, seconds }: { objectKey: string; seconds: number },
): Promise<void> {
  await sql`
    insert into loose_objects (tenant_id, object_key, remove_after)
    values (${ctx.tenantId}, ${objectKey}, now() + make_interval(secs => ${seconds}))`
}

/** Keeps an object until it is released; false when it is being removed. */
export async function holdLooseObject(sql: Sql, ctx: Tenancy, objectKey: string): Promise<boolean> {
  const rows = await sql`
    update loose_objects
    set remove_after = 'infinity'
    where tenant_id = ${ctx.tenantId}
      and object_key = ${objectKey}
      and not removing
    returning object_key`
  return rows.length > 0
}

/** Lets objects be removed after a while. */
export async function releaseLooseObjects(
  sql: Sql,
  ctx: Pick<Tenancy, 'tenantId'>,
  { objectKeys, seconds }: { objectKeys: readonly string[]; seconds: number },
): Promise<void> {
  await sql`
    update loose_objects
    set remove_after = now() + make_interval(secs => ${seconds})
    where tenant_id = ${ctx.tenantId}
      and object_key = any(${[...objectKeys]})`
}

/** Takes an object out of the list, for a blob to own it; false when it is being removed. */
export async function deleteLooseObject(
  sql: Sql,
  ctx: Tenancy,
  objectKey: string,
): Promise<boolean> {
  const rows = await sql`
    delete from loose_objects
    where tenant_id = ${ctx.tenantId}
      and object_key = ${objectKey}
      and not removing
    returning object_key`
  return rows.length > 0
}

export interface LooseObject {
  tenantId: string
  objectKey: string
}

/**
 * Marks objects of every tenant_id whose time is up as being removed, and gives this caller a while to
 * remove them; then somebody else may try. Uses index loose_objects_by_due.
 */
export async function updateDueRemoving(
  sql: Sql,
  { limit, leaseSeconds }: { limit: number; leaseSeconds: number },
): Promise<LooseObject[]> {
  return await sql<LooseObject[]>`
    update loose_objects
    set removing = true, remove_after = now() + make_interval(secs => ${leaseSeconds})
    where (tenant_id, object_key) in (
      select tenant_id, object_key
      from loose_objects
      where remove_after <= now()
      order by remove_after
      limit ${limit}
      for update skip locked)
    returning tenant_id, object_key`
}

/** It is gone from the store. */
export async function deleteRemoved(sql: Sql, { tenantId, objectKey }: LooseObject): Promise<void> {
  await sql`
    delete from loose_objects
    where tenant_id = ${tenantId}
      and object_key = ${objectKey}
      and removing`
}
