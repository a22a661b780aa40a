import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { isUuid } from '#lib/id.ts'

/** Something that a request is about, and the workspace it belongs to; null for the tenant itself. */
export interface PlacedRow {
  id: string
  workspaceId: string | null
}

/** Tables whose rows name a workspace themselves. */
const PLACED: Readonly<Record<string, string>> = {
  approval: 'approvals',
  artifact: 'artifacts',
  artifact_upload: 'artifact_uploads',
  goal: 'goals',
  observation: 'observations',
  project: 'projects',
  role: 'roles',
  skill_invocation: 'skill_invocations',
  webhook: 'webhooks',
}

/** Tables whose rows belong where their task does. */
const OF_TASK: Readonly<Record<string, string>> = {
  run: 'runs',
  claim: 'claims',
  comment: 'task_comments',
  child_handle: 'child_handles',
}

/** What describes the tenant as a whole: found by its id alone, in no workspace. */
const OF_TENANT: ReadonlySet<string> = new Set([
  'principal',
  'api_key',
  'iam_binding',
  'delegation',
  'capability',
  'skill',
  'tool',
  'workspace_type',
  'task_type',
  'project_template',
  'price_table',
  'session',
])

/** True for everything whose place can be told. */
export function isPlaceable(type: string): boolean {
  return (
    ['task', 'workspace'].includes(type) ||
    PLACED[type] !== undefined ||
    OF_TASK[type] !== undefined ||
    OF_TENANT.has(type)
  )
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

/** A workspace with its ancestors, nearest first, itself included. */
export interface Line {
  id: string
  workspaceIds: string[]
}

/** The workspaces of the tenant with their ancestors: all, or one with those below it. */
export async function selectLines(
  sql: Sql,
  ctx: Tenancy,
  { within }: { within?: string | undefined } = {},
): Promise<Line[]> {
  return await sql<Line[]>`
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
    from tree
    ${within === undefined ? sql`` : sql`where ${within} = any(workspace_ids)`}`
}
