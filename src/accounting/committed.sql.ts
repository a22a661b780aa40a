import type { Sql } from '#db/sql.ts'
import { toTrillionths } from '#lib/amount.ts'
import type { Tenancy } from '#lib/ctx.ts'
import type { Committed, Scope } from './caps.ts'

interface CommittedRow {
  monthTokens: string
  totalTokens: string
  monthCost: string
  totalCost: string
  reservedTokens: string
  reservedCost: string
  coversTokens: boolean
  coversCost: boolean
}

/**
 * What the runs of a scope used and still hold, in one snapshot. A run holds its budget while it goes on
 * under a live claim, or a run below it does; what it and those below it used is taken off. Of runs of
 * the scope that are below one another only the topmost with a budget counts, which is the one that
 * covers what `parentId`, a run that goes on, gives to a child. Who may start a run in the scope waits for
 * the scope's lock, so that nobody reserves on the same numbers.
 *
 * Reads the months of the scope by the indexes usage_months_by_workspace and one_usage_per_month, and the
 * running runs of the tenant by the partial index runs_by_principal.
 */
export async function selectCommitted(
  sql: Sql,
  ctx: Tenancy,
  { scope, parentId }: { scope: Scope; parentId: string | null },
): Promise<Committed> {
  const inTree = within(sql, scope, { workspace: 't.workspace_id', principal: 'r.principal_id' })
  const inMonths = within(sql, scope, { workspace: 'u.workspace_id', principal: 'u.principal_id' })
  const [row] = await sql<[CommittedRow]>`
    with recursive tree as (
      select id
      from workspaces
      where tenant_id = ${ctx.tenantId}
        and id = ${scope.kind === 'project' ? scope.workspaceId : null}
      union all
      select w.id
      from tree
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.parent_id = tree.id
    ),
    spent as (
      ${spent(sql, ctx, inMonths)}
    ),
    going_on as (
      select r.id, r.ancestor_ids || r.id as line
      from runs r
      join tasks t on t.tenant_id = ${ctx.tenantId} and t.id = r.task_id
      join claims c on c.tenant_id = ${ctx.tenantId} and c.id = r.claim_id
      join sessions s on s.tenant_id = ${ctx.tenantId} and s.id = c.session_id
      where r.tenant_id = ${ctx.tenantId}
        and r.status = 'running'
        and ${inTree}
        and c.status = 'active'
        and c.expires_at > clock_timestamp()
        and s.status = 'active'
        and s.expires_at > clock_timestamp()
    ),
    ${holders(sql, ctx, inTree)}
    above as (
      select count(max_tokens) > 0 as covers_tokens, count(max_cost) > 0 as covers_cost
      from holders
      where run_id = ${parentId}
    )
    select spent.*, above.*,
           ${held(sql, ctx, 'max_tokens', 'tree_tokens')} as reserved_tokens,
           ${held(sql, ctx, 'max_cost', 'tree_cost')} as reserved_cost
    from spent, above`
  return committedOf(row)
}

/** Whether a row belongs to a scope; `tree` holds the workspaces of a project. */
function within(sql: Sql, scope: Scope, column: { workspace: string; principal: string }) {
  return scope.kind === 'project'
    ? sql`${sql(column.workspace)} in (select id from tree)`
    : sql`${sql(column.principal)} = ${scope.principalId}`
}

/** What was used in all and this month, where a condition holds. */
function spent(sql: Sql, ctx: Tenancy, condition: ReturnType<typeof within>) {
  const thisMonth = sql`
    filter (where u.month = date_trunc('month', now() at time zone 'utc')::date)`
  return sql`
    select coalesce(sum(u.tokens) ${thisMonth}, 0) as month_tokens,
           coalesce(sum(u.tokens), 0) as total_tokens,
           coalesce(sum(u.cost) ${thisMonth}, 0) as month_cost,
           coalesce(sum(u.cost), 0) as total_cost
    from usage_months u
    where u.tenant_id = ${ctx.tenantId}
      and ${condition}`
}

/**
 * For each run that goes on itself and the runs above it, the topmost first, as far up as the condition keeps
 * them without a gap.
 */
function holders(sql: Sql, ctx: Tenancy, condition: ReturnType<typeof within>) {
  return sql`
    lines as (
      select going_on.id as run_id, step.position, r.id, r.max_tokens, r.max_cost,
             max(step.position) filter (where not coalesce(${condition}, false))
               over (partition by going_on.id) as outside
      from going_on
      cross join unnest(going_on.line) with ordinality as step (id, position)
      join runs r on r.tenant_id = ${ctx.tenantId} and r.id = step.id
      join tasks t on t.tenant_id = ${ctx.tenantId} and t.id = r.task_id
    ),
    holders as (
      select run_id, position, id, max_tokens, max_cost
      from lines
      where position > coalesce(outside, 0)
    ),`
}

/** What the topmost holders of a budget still hold. */
function held(sql: Sql, ctx: Tenancy, budget: string, used: string) {
  const limit = sql(`holders.${budget}`)
  return sql`(
    select coalesce(sum(greatest(top.held - coalesce(${sql(`u.${used}`)}, 0), 0)), 0)
    from (
      select distinct id, held
      from (
        select distinct on (holders.run_id) holders.id, ${limit} as held
        from holders
        where ${limit} is not null
        order by holders.run_id, holders.position
      ) as of_runs
    ) as top
    left join run_usage u on u.tenant_id = ${ctx.tenantId} and u.run_id = top.id)`
}

function committedOf(row: CommittedRow): Committed {
  return {
    used: {
      tokens: { month: BigInt(row.monthTokens), total: BigInt(row.totalTokens) },
      cost: { month: toTrillionths(row.monthCost), total: toTrillionths(row.totalCost) },
    },
    reserved: { tokens: BigInt(row.reservedTokens), cost: toTrillionths(row.reservedCost) },
    covers: { tokens: row.coversTokens, cost: row.coversCost },
  }
}
