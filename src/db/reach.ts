import type { Reach, Tenancy } from '#lib/ctx.ts'
import type { Sql } from './sql.ts'

/**
 * The condition that keeps a reader within its reach, to follow a `where`; `column` holds the workspace a
 * row belongs to. What is out of reach does not exist for the reader, like what is another tenant's.
 *
 *     where t.tenant_id = ${ctx.tenantId} ${inReach(sql, ctx, 't.workspace_id')}
 *
 * A reader whose reach is a workspace gets that and what is below it at the time of the query, and nothing
 * that belongs to no workspace. The subtree is found once a query, one look-up per workspace in it.
 */
export function inReach(sql: Sql, { tenantId, reach }: Tenancy, column: string) {
  if (reach === undefined) return sql``
  const place = sql(column)
  if (reach.kind === 'listed') {
    const listed = sql`${place} = any(${[...reach.workspaceIds]}::uuid[])`
    return reach.unplaced ? sql`and (${place} is null or ${listed})` : sql`and ${listed}`
  }
  return sql`and ${place} in (
    with recursive inside as (
      select id
      from workspaces
      where tenant_id = ${tenantId}
        and id = ${reach.workspaceId}
      union all
      select w.id
      from inside
      join workspaces w on w.tenant_id = ${tenantId} and w.parent_id = inside.id
    )
    select id from inside)`
}

/** The same for rows that may belong to the whole tenant, which everybody in it sees. */
export function inReachOrShared(sql: Sql, ctx: Tenancy, column: string) {
  if (ctx.reach === undefined) return sql``
  return sql`and (${sql(column)} is null or (true ${inReach(sql, ctx, column)}))`
}

/**
 * Of a workspace and its ancestors, nearest first, those that a reader reaches: with a workspace for a
 * reach, up to that.
 */
export function lineInReach(reach: Reach | undefined, line: readonly string[]): string[] {
  if (reach === undefined) return [...line]
  if (reach.kind === 'listed') return line.filter((id) => reach.workspaceIds.includes(id))
  return line.slice(0, line.indexOf(reach.workspaceId) + 1)
}
