import { spentObject } from '#accounting/spent.sql.ts'
import type { Spending, SpentRow } from '#accounting/spent.sql.ts'
import type { Tokens } from '#contract/spent.ts'
import type { Unpriced, UsageMode } from '#contract/usage-reports.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import type { Place } from './series.sql.ts'

export interface ReportRow {
  id: string
  runId: string
  sequence: number
  mode: UsageMode
  cliSessionId: string | null
  fingerprint: string
  fencingToken: number | null
  createdAt: Date
}

function columns(sql: Sql) {
  return sql`id, run_id, sequence, mode, cli_session_id, fingerprint, fencing_token, created_at`
}

export async function insertReport(
  sql: Sql,
  ctx: Tenancy,
  report: Omit<ReportRow, 'createdAt'>,
): Promise<ReportRow> {
  const { id, runId, sequence, mode, cliSessionId, fingerprint, fencingToken } = report
  const [row] = await sql<[ReportRow]>`
    insert into usage_reports
      (tenant_id, run_id, sequence, id, mode, cli_session_id, fingerprint, fencing_token)
    values
      (${ctx.tenantId}, ${runId}, ${sequence}, ${id}, ${mode}, ${cliSessionId}, ${fingerprint},
       ${fencingToken})
    returning ${columns(sql)}`
  return row
}

export async function selectReport(
  sql: Sql,
  ctx: Tenancy,
  { runId, sequence }: { runId: string; sequence: number },
): Promise<ReportRow | undefined> {
  const [row] = await sql<ReportRow[]>`
    select ${columns(sql)}
    from usage_reports
    where tenant_id = ${ctx.tenantId}
      and run_id = ${runId}
      and sequence = ${sequence}`
  return row
}

/** Newest first by when they arrived. Reads one row more than the page holds. */
export async function selectReports(
  sql: Sql,
  ctx: Tenancy,
  { runId, page }: { runId: string; page: PageRequest },
): Promise<ReportRow[]> {
  return await sql<ReportRow[]>`
    select ${columns(sql)}
    from usage_reports
    where tenant_id = ${ctx.tenantId}
      and run_id = ${runId}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

export interface LineRow extends SpentRow {
  sequence: number
  provider: string
  model: string
  priceVersion: number | null
  unpriced: Unpriced | null
  isNewSession: boolean
}

/** The lines of some reports of a run, each report's in its order. */
export async function selectLines(
  sql: Sql,
  ctx: Tenancy,
  { runId, sequences }: { runId: string; sequences: readonly number[] },
): Promise<LineRow[]> {
  return await sql<LineRow[]>`
    select l.sequence, l.provider, l.model, l.price_version, l.unpriced, l.is_new_session,
           ${spentObject(sql, ctx, 'l', 'row')} as spent
    from usage_lines l
    where l.tenant_id = ${ctx.tenantId}
      and l.run_id = ${runId}
      and l.sequence = any(${[...sequences]}::int[])
    order by l.sequence, l.position`
}

export interface NewLine extends Spending {
  position: number
  provider: string
  model: string
  priceVersion: number | null
  unpriced: Unpriced | null
  isNewSession: boolean
  /** Of totals: the series and what was told. */
  series: string | null
  figures: Tokens | null
  usdFigure: string | null
}

/** What all lines of a report share. */
export interface ReportOfRun extends Place {
  principalId: string
  workspaceId: string | null
  cliSessionId: string | null
}

export async function insertLines(
  sql: Sql,
  ctx: Tenancy,
  report: ReportOfRun,
  lines: readonly NewLine[],
): Promise<void> {
  const { runId, runStartedAt, sequence, principalId, cliSessionId } = report
  await sql`
    insert into usage_lines
      (tenant_id, run_id, sequence, position, provider, model, input_tokens, output_tokens,
       cache_read_tokens, cache_write_tokens, reasoning_tokens, unpriced_tokens, cost, reported_usd,
       price_version, unpriced, is_new_session, principal_id, run_started_at, cli_session_id,
       series, figures, usd_figure)
    select ${ctx.tenantId}, ${runId}, ${sequence}, n.position, n.provider, n.model, n.input_tokens,
           n.output_tokens, n.cache_read_tokens, n.cache_write_tokens, n.reasoning_tokens,
           n.unpriced_tokens, n.cost, n.reported_usd, n.price_version, n.unpriced,
           n.is_new_session, ${principalId}, ${runStartedAt},
           case when n.series is not null then ${cliSessionId} end, n.series, n.figures,
           n.usd_figure
    from ${linesTable(sql, lines)}`
}

function linesTable(sql: Sql, lines: readonly NewLine[]) {
  const rows = lines.map(({ tokens, ...line }) => ({
    position: line.position,
    provider: line.provider,
    model: line.model,
    input_tokens: tokens.input,
    output_tokens: tokens.output,
    cache_read_tokens: tokens.cacheRead,
    cache_write_tokens: tokens.cacheWrite,
    reasoning_tokens: tokens.reasoning,
    unpriced_tokens: line.unpricedTokens,
    cost: line.cost,
    reported_usd: line.reportedUsd,
    price_version: line.priceVersion,
    unpriced: line.unpriced,
    is_new_session: line.isNewSession,
    series: line.series,
    figures: line.figures,
    usd_figure: line.usdFigure,
  }))
  return sql`
    jsonb_to_recordset(${sql.json(rows)}) as n (
      position int, provider text, model text, input_tokens bigint, output_tokens bigint,
      cache_read_tokens bigint, cache_write_tokens bigint, reasoning_tokens bigint,
      unpriced_tokens bigint, cost numeric, reported_usd numeric, price_version int, unpriced text,
      is_new_session boolean, series text, figures jsonb, usd_figure numeric)`
}

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
       cache_write_tokens, reasoning_tokens, unpriced_tokens, cost, reported_usd)
    select ${ctx.tenantId}, ${report.runId}, ${report.sequence}, sum(n.input_tokens),
           sum(n.output_tokens), sum(n.cache_read_tokens), sum(n.cache_write_tokens),
           sum(n.reasoning_tokens), sum(n.unpriced_tokens), sum(n.cost), sum(n.reported_usd)
    from ${linesTable(sql, lines)}
    on conflict (tenant_id, run_id) do update
    set last_sequence = greatest(r.last_sequence, excluded.last_sequence),
        ${added(sql, 'r')}`
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

export type RunUsageRow = SpentRow & { lastSequence: number }

/** The sum of a run; zero before its first report. */
export async function selectRunUsage(sql: Sql, ctx: Tenancy, runId: string): Promise<RunUsageRow> {
  const [row] = await sql<[RunUsageRow]>`
    select coalesce(u.last_sequence, 0) as last_sequence,
           ${spentObject(sql, ctx, 'u', 'row')} as spent
    from (select 1) as always
    left join run_usage u on u.tenant_id = ${ctx.tenantId} and u.run_id = ${runId}`
  return row
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
