import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { isUuid } from '#lib/id.ts'

/** Something that a request is about, and the workspace it belongs to. */
export interface PlacedRow {
  id: string
  workspaceId: string | null
}

/** Tables whose rows belong to a workspace themselves. */
const PLACED: Readonly<Record<string, string>> = {
  artifact: 'artifacts',
  goal: 'goals',
  observation: 'observations',
  project: 'projects',
  role: 'roles',
}

/** Tables whose rows belong where their task does. */
const OF_TASK: Readonly<Record<string, string>> = {
  run: 'runs',
  claim: 'claims',
  child_handle: 'child_handles',
}

/** Where a resource is, by primary key; undefined when the tenant has no such thing. */
export async function selectPlaced(
  sql: Sql,
  ctx: Tenancy,
  { type, ref }: { type: string; ref: string },
): Promise<PlacedRow | undefined> {
  if (type === 'task') return await selectTaskPlace(sql, ctx, ref)
  if (!isUuid(ref)) return undefined
  const [row] = await placeQuery(sql, ctx, { type, id: ref })
  return row
}

async function placeQuery(
  sql: Sql,
  ctx: Tenancy,
  { type, id }: { type: string; id: string },
): Promise<PlacedRow[]> {
  const own = PLACED[type]
  if (own !== undefined) {
    return await sql<PlacedRow[]>`
      select id, workspace_id
      from ${sql(own)}
      where tenant_id = ${ctx.tenantId}
        and id = ${id}`
  }
  const ofTask = OF_TASK[type]
  if (ofTask !== undefined) {
    return await sql<PlacedRow[]>`
      select r.id, t.workspace_id
      from ${sql(ofTask)} r
      join tasks t on t.tenant_id = r.tenant_id and t.id = r.task_id
      where r.tenant_id = ${ctx.tenantId}
        and r.id = ${id}`
  }
  if (type !== 'workspace') return [{ id, workspaceId: null }]
  return await sql<PlacedRow[]>`
    select id, id as workspace_id
    from workspaces
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
}

async function selectTaskPlace(
  sql: Sql,
  ctx: Tenancy,
  ref: string,
): Promise<PlacedRow | undefined> {
  const number = /^TASK-(\d{1,12})$/.exec(ref)?.[1]
  if (number === undefined && !isUuid(ref)) return undefined
  const [row] = await sql<PlacedRow[]>`
    select id, workspace_id
    from tasks
    where tenant_id = ${ctx.tenantId}
      and ${number === undefined ? sql`id = ${ref}` : sql`number = ${number}::bigint`}`
  return row
}

/** Every workspace of the tenant with its ancestors, nearest first, itself included. */
export async function selectLines(
  sql: Sql,
  ctx: Tenancy,
): Promise<{ id: string; workspaceIds: string[] }[]> {
  return await sql<{ id: string; workspaceIds: string[] }[]>`
    with recursive tree as (
      select id, array[id] as workspace_ids
      from workspaces
      where tenant_id = ${ctx.tenantId}
        and parent_id is null
      union all
      select w.id, w.id || tree.workspace_ids
      from tree
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.parent_id = tree.id
    )
    select id, workspace_ids
    from tree`
}
