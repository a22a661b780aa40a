import type { UsageGroup } from '#contract/usage-totals.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { spentObject } from './spent.sql.ts'
import type { SpentRow } from './spent.sql.ts'

export interface TotalsFilter {
  groupBy: UsageGroup | undefined
  from?: string | undefined
  to?: string | undefined
  principalId?: string | undefined
  provider?: string | undefined
  model?: string | undefined
  /** Only work in these workspaces; undefined for all within reach. */
  workspaceIds: readonly string[] | undefined
  /** Grouped by project: each sum with those of the projects below it. */
  includeSubprojects: boolean
}

/** A sum and what it is of, as {@link groupFields} reads it. */
export interface TotalRow extends SpentRow {
  key: string
}

/** What stands between provider and model in a key; neither holds such a character. */
const SEPARATOR = '\n'

/** Sums in the order of their keys, after a key. Reads one row more than the page holds. */
export async function selectTotals(
  sql: Sql,
  ctx: Tenancy,
  filter: TotalsFilter,
  page: { after: string | undefined; limit: number },
): Promise<TotalRow[]> {
  const { groupBy, workspaceIds } = filter
  const after = page.after === undefined ? sql`` : sql`where kept.key > ${page.after}`
  return await sql<TotalRow[]>`
    ${groupBy === 'project' ? projectsOfWorkspaces(sql, ctx, filter) : sql``}
    select kept.key, ${spentObject(sql, ctx, 'kept', 'sum')} as spent
    from (
      select ${keyOf(sql, groupBy)} collate "C" as key, u.*
      from usage_days u
      ${groupBy === 'project' ? sql`left join owners on owners.workspace_id = u.workspace_id` : sql``}
      where u.tenant_id = ${ctx.tenantId}
        ${narrowed(sql, filter)}
        ${workspaceIds ? sql`and u.workspace_id = any(${[...workspaceIds]}::uuid[])` : sql``}
        ${inReach(sql, ctx, 'u.workspace_id')}
    ) as kept
    ${after}
    group by kept.key
    order by kept.key
    limit ${page.limit + 1}`
}

function narrowed(sql: Sql, { from, to, principalId, provider, model }: TotalsFilter) {
  return sql`
    ${from === undefined ? sql`` : sql`and u.day >= ${from}::date`}
    ${to === undefined ? sql`` : sql`and u.day <= ${to}::date`}
    ${principalId === undefined ? sql`` : sql`and u.principal_id = ${principalId}`}
    ${provider === undefined ? sql`` : sql`and u.provider = ${provider}`}
    ${model === undefined ? sql`` : sql`and u.model = ${model}`}`
}

function keyOf(sql: Sql, groupBy: UsageGroup | undefined) {
  if (groupBy === 'agent') return sql`u.principal_id::text`
  if (groupBy === 'workspace') return sql`coalesce(u.workspace_id::text, '')`
  if (groupBy === 'project') return sql`coalesce(owners.project_id::text, '')`
  if (groupBy === 'model') return sql`(u.provider || ${SEPARATOR} || u.model)`
  if (groupBy === 'day') return sql`u.day::text`
  return groupBy === 'month' ? sql`to_char(u.day, 'YYYY-MM')` : sql`''`
}

/**
 * The workspaces of the tenant with the project each belongs to, or with every project above it when
 * sums are to hold what is below. Projects that the reader may not see, and those outside the workspaces
 * that the listing is narrowed to, are none. Walks down all workspaces of the tenant.
 */
function projectsOfWorkspaces(
  sql: Sql,
  ctx: Tenancy,
  { workspaceIds, includeSubprojects }: TotalsFilter,
) {
  const seen = sql`
    select p.id, p.workspace_id
    from projects p
    where p.tenant_id = ${ctx.tenantId}
      ${workspaceIds ? sql`and p.workspace_id = any(${[...workspaceIds]}::uuid[])` : sql``}
      ${inReach(sql, ctx, 'p.workspace_id')}`
  const owned = includeSubprojects
    ? sql`seen.id = any(walk.line)`
    : sql`seen.id = walk.line[cardinality(walk.line)]`
  return sql`
    with recursive walk as (
      select w.id, case when p.id is null then '{}'::uuid[] else array[p.id] end as line
      from workspaces w
      left join projects p on p.tenant_id = ${ctx.tenantId} and p.workspace_id = w.id
      where w.tenant_id = ${ctx.tenantId}
        and w.parent_id is null
      union all
      select w.id, case when p.id is null then walk.line else walk.line || p.id end
      from walk
      join workspaces w on w.tenant_id = ${ctx.tenantId} and w.parent_id = walk.id
      left join projects p on p.tenant_id = ${ctx.tenantId} and p.workspace_id = w.id
    ),
    seen as (${seen}),
    owners as (
      select walk.id as workspace_id, seen.id as project_id
      from walk
      join seen on ${owned}
    )`
}

/** What the key of a sum says it is of. */
export function groupFields(groupBy: UsageGroup | undefined, key: string) {
  if (groupBy === undefined) return {}
  if (groupBy === 'agent') return { principalId: key }
  if (groupBy === 'workspace') return { workspaceId: key || null }
  if (groupBy === 'project') return { projectId: key || null }
  if (groupBy === 'day') return { day: key }
  if (groupBy === 'month') return { month: key }
  const [provider, model = ''] = key.split(SEPARATOR)
  return { provider: provider || null, model }
}
