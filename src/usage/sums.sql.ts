import { spentObject } from '#accounting/spent.sql.ts'
import type { SpentRow } from '#accounting/spent.sql.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { linesTable } from './line.sql.ts'
import type { NewLine, ReportOfRun } from './line.sql.ts'

/**
 * Adds lines to the sums of the day (UTC, by the database clock). The rows are taken in one order
 * everywhere, so two reports at once do not wait for each other in a circle.
 */
export async function addToDays(
  sql: Sql,
  ctx: Tenancy,
  report: ReportOfRun,
  lines: readonly NewLine[],
): Promise<void> {
  await sql`
    insert into usage_days as d
      (tenant_id, principal_id, day, workspace_id, provider, model, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, reasoning_tokens, unpriced_tokens, cost, reported_usd)
    select ${ctx.tenantId}, ${report.principalId}, (clock_timestamp() at time zone 'utc')::date,
           ${report.workspaceId}::uuid, n.provider, n.model, n.input_tokens, n.output_tokens,
           n.cache_read_tokens, n.cache_write_tokens, n.reasoning_tokens, n.unpriced_tokens,
           n.cost, n.reported_usd
    from ${linesTable(sql, lines)}
    order by n.provider collate "C", n.model collate "C"
    on conflict on constraint one_usage_per_day do update
    set ${added(sql, 'd')}`
}

/** Adds lines to the sum of their run, whose task the caller has locked. */
export async function addToRun(
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
           ${treeSums(sql)}
    from ${linesTable(sql, lines)}
    on conflict (tenant_id, run_id) do update
    set last_sequence = greatest(r.last_sequence, excluded.last_sequence),
        tree_tokens = r.tree_tokens + excluded.tree_tokens,
        tree_cost = r.tree_cost + excluded.tree_cost,
        ${added(sql, 'r')}`
}

/** What runs above a run spend with it: tokens of all classes, and what they cost. */
function treeSums(sql: Sql) {
  return sql`
    sum(n.input_tokens + n.output_tokens + n.cache_read_tokens + n.cache_write_tokens
        + n.reasoning_tokens),
    coalesce(sum(n.cost), 0)`
}

/**
 * Adds lines to what the runs above a run spend, the nearest first: everybody takes these rows on the way
 * up, after that of the own run, so nobody waits in a circle. Their tasks are not locked.
 */
export async function addToAncestors(
  sql: Sql,
  ctx: Tenancy,
  ancestorIds: readonly string[],
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
        select ${treeSums(sql)} from ${linesTable(sql, lines)}
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
