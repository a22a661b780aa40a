import { spentObject } from '#accounting/spent.sql.ts'
import type { SpentRow } from '#accounting/spent.sql.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { linesTable } from './line.sql.ts'
import type { NewLine, ReportOfRun } from './line.sql.ts'

/**
 * Adds the lines of a report to all sums: of the day and the month (UTC, by the database clock), of the
 * run, whose task the caller has locked, and of the runs above it. Everybody takes the rows in this order,
 * so two reports at once do not wait for each other in a circle.
 */
export async function addToSums(
  sql: Sql,
  ctx: Tenancy,
  report: ReportOfRun,
  lines: readonly NewLine[],
): Promise<void> {
  await Promise.all([
    addToDay(sql, ctx, report, lines),
    addToMonth(sql, ctx, report, lines),
    addToRun(sql, ctx, report, lines),
    report.ancestorIds.length > 0 && addToAncestors(sql, ctx, report, lines),
  ])
}

async function addToDay(
  sql: Sql,
  ctx: Tenancy,
  report: ReportOfRun,
  lines: readonly NewLine[],
): Promise<void> {
  await sql`
    insert into usage_days as d
      (tenant_id, principal_id, day, workspace_id, provider, model, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, reasoning_tokens, unpriced_tokens, cost, reported_usd)
    select ${ctx.tenantId}, ${report.principalId}, (now() at time zone 'utc')::date,
           ${report.workspaceId}::uuid, n.provider, n.model, n.input_tokens, n.output_tokens,
           n.cache_read_tokens, n.cache_write_tokens, n.reasoning_tokens, n.unpriced_tokens,
           n.cost, n.reported_usd
    from ${linesTable(sql, lines)}
    order by n.provider collate "C", n.model collate "C"
    on conflict on constraint one_usage_per_day do update
    set ${added(sql, 'd')}`
}

/** What bounds are held against. */
async function addToMonth(
  sql: Sql,
  ctx: Tenancy,
  report: ReportOfRun,
  lines: readonly NewLine[],
): Promise<void> {
  await sql`
    insert into usage_months as m (tenant_id, principal_id, month, workspace_id, tokens, cost)
    select ${ctx.tenantId}, ${report.principalId},
           date_trunc('month', now() at time zone 'utc')::date, ${report.workspaceId}::uuid,
           ${wholeSums(sql)}
    from ${linesTable(sql, lines)}
    on conflict on constraint one_usage_per_month do update
    set tokens = m.tokens + excluded.tokens,
        cost = m.cost + excluded.cost`
}

async function addToRun(
  sql: Sql,
  ctx: Tenancy,
  report: ReportOfRun,
  lines: readonly NewLine[],
): Promise<void> {
  await sql`
    insert into run_usage as r
      (tenant_id, run_id, last_sequence, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, reasoning_tokens, unpriced_tokens, cost, reported_usd, tree_tokens,
       tree_cost)
    select ${ctx.tenantId}, ${report.runId}, ${report.sequence}, sum(n.input_tokens),
           sum(n.output_tokens), sum(n.cache_read_tokens), sum(n.cache_write_tokens),
           sum(n.reasoning_tokens), sum(n.unpriced_tokens), sum(n.cost), sum(n.reported_usd),
           ${wholeSums(sql)}
    from ${linesTable(sql, lines)}
    on conflict (tenant_id, run_id) do update
    set last_sequence = greatest(r.last_sequence, excluded.last_sequence),
        tree_tokens = r.tree_tokens + excluded.tree_tokens,
        tree_cost = r.tree_cost + excluded.tree_cost,
        ${added(sql, 'r')}`
}

/** Tokens of all classes, and what was priced. */
function wholeSums(sql: Sql) {
  return sql`
    sum(n.input_tokens + n.output_tokens + n.cache_read_tokens + n.cache_write_tokens
        + n.reasoning_tokens),
    coalesce(sum(n.cost), 0)`
}

/** The nearest first, so that everybody takes these rows on the way up. Their tasks are not locked. */
async function addToAncestors(
  sql: Sql,
  ctx: Tenancy,
  { ancestorIds }: ReportOfRun,
  lines: readonly NewLine[],
): Promise<void> {
  await sql`
    insert into run_usage as r
      (tenant_id, run_id, last_sequence, input_tokens, output_tokens, cache_read_tokens,
       cache_write_tokens, reasoning_tokens, unpriced_tokens, tree_tokens, tree_cost)
    select ${ctx.tenantId}, line.id, 0, 0, 0, 0, 0, 0, 0, line.tree_tokens, line.tree_cost
    from (
      select step.id, step.position, added.tree_tokens, added.tree_cost
      from unnest(${[...ancestorIds]}::uuid[]) with ordinality as step (id, position)
      cross join (
        select ${wholeSums(sql)} from ${linesTable(sql, lines)}
      ) as added (tree_tokens, tree_cost)
      order by step.position desc
    ) as line
    on conflict (tenant_id, run_id) do update
    set tree_tokens = r.tree_tokens + excluded.tree_tokens,
        tree_cost = r.tree_cost + excluded.tree_cost`
}

/** Assignments that add a row to the one that is there; what is null stays so until something is known. */
function added(sql: Sql, to: 'd' | 'r') {
  const sum = (name: string) =>
    sql`${sql(name)} = ${sql(`${to}.${name}`)} + ${sql(`excluded.${name}`)}`
  const amount = (name: string) => sql`
    ${sql(name)} = coalesce(${sql(`${to}.${name}`)} + ${sql(`excluded.${name}`)},
                            ${sql(`${to}.${name}`)}, ${sql(`excluded.${name}`)})`
  return sql`
    ${sum('input_tokens')}, ${sum('output_tokens')}, ${sum('cache_read_tokens')},
    ${sum('cache_write_tokens')}, ${sum('reasoning_tokens')}, ${sum('unpriced_tokens')},
    ${amount('cost')}, ${amount('reported_usd')}`
}

/** The greatest sequence that was reported of a run; 0 before the first. */
export async function selectLastSequence(sql: Sql, ctx: Tenancy, runId: string): Promise<number> {
  const [row] = await sql<{ lastSequence: number }[]>`
    select last_sequence
    from run_usage
    where tenant_id = ${ctx.tenantId}
      and run_id = ${runId}`
  return row?.lastSequence ?? 0
}

export type ModelUsageRow = SpentRow & { provider: string; model: string }

/** What a run used of each model. */
export async function selectUsageByModel(
  sql: Sql,
  ctx: Tenancy,
  runId: string,
): Promise<ModelUsageRow[]> {
  return await sql<ModelUsageRow[]>`
    select l.provider, l.model, ${spentObject(sql, ctx, 'l', 'sum')} as spent
    from usage_lines l
    where l.tenant_id = ${ctx.tenantId}
      and l.run_id = ${runId}
    group by l.provider, l.model
    order by l.provider collate "C", l.model collate "C"`
}
