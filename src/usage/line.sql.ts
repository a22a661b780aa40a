import { spentObject } from '#accounting/spent.sql.ts'
import type { Spending, SpentRow } from '#accounting/spent.sql.ts'
import type { Tokens } from '#contract/spent.ts'
import type { Unpriced } from '#contract/usage-reports.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import type { Place } from './series.sql.ts'

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
  /** The runs that its run spends from, the topmost first. */
  ancestorIds: readonly string[]
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

/** Lines as a table `n`, to be added to sums. */
export function linesTable(sql: Sql, lines: readonly NewLine[]) {
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
