import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

/**
 * How many runs go on under a live claim in a workspace and below it, counted up to `limit`. Reads the
 * running runs of the tenant by the partial index runs_by_principal, and each one's task by key.
 */
export async function countRunsBelow(
  sql: Sql,
  ctx: Tenancy,
  { workspaceId, limit }: { workspaceId: string; limit: number },
): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    with recursive tree as (
      select id
      from workspaces
      where tenant_id = ${ctx.tenantId}
        and id = ${workspaceId}
      union all
      select w.id
      from tree
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.parent_id = tree.id
    ),
    going_on as (
      select 1
      from runs r
      join tasks t on t.tenant_id = ${ctx.tenantId} and t.id = r.task_id
      join claims c on c.tenant_id = ${ctx.tenantId} and c.id = r.claim_id
      join sessions s on s.tenant_id = ${ctx.tenantId} and s.id = c.session_id
      where r.tenant_id = ${ctx.tenantId}
        and r.status = 'running'
        and t.workspace_id in (select id from tree)
        and c.status = 'active'
        and c.expires_at > clock_timestamp()
        and s.status = 'active'
        and s.expires_at > clock_timestamp()
      limit ${limit}
    )
    select count(*)::int as count
    from going_on`
  return row.count
}
