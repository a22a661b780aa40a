import { costOf } from '#accounting/price-table.ts'
import type { Prices } from '#accounting/price-table.ts'
import { TOKEN_CLASSES } from '#contract/spent.ts'
import type { GivenLine, UsageMode } from '#contract/usage-reports.ts'
import type { Sql } from '#db/sql.ts'
import { fromTrillionths, normalAmount, toTrillionths } from '#lib/amount.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { sha256 } from '#lib/id.ts'
import { countTotal, figuresOf, tokensOf } from './figures.ts'
import type { Figures } from './figures.ts'
import type { NewLine, ReportOfRun } from './line.sql.ts'
import { selectNeighbours } from './series.sql.ts'

export type CountedLine = Omit<
  NewLine,
  'position' | 'cost' | 'priceVersion' | 'unpriced' | 'unpricedTokens'
>

/**
 * What a line of a report adds: itself, or how far a total is from its neighbours in its series. The
 * caller holds the lock of the program's session.
 */
export async function countLine(
  sql: Sql,
  ctx: Tenancy,
  { report, mode, line }: { report: ReportOfRun; mode: UsageMode; line: GivenLine },
): Promise<CountedLine> {
  const { model, provider: told, reportedUsd: dollars, ...tokens } = line
  const provider = told ?? ''
  const reportedUsd = dollars && normalAmount(dollars)
  const { cliSessionId, principalId } = report
  if (mode === 'delta' || cliSessionId === null) {
    const noTotal = { series: null, figures: null, usdFigure: null, isNewSession: false }
    return { provider, model, tokens, reportedUsd, ...noTotal }
  }
  // Hashed: names may be longer than an index bears.
  const series = mode === 'cumulative' ? 'all' : sha256(JSON.stringify([told, model]))
  const of = { principalId, cliSessionId, series }
  const { before, after, ...usd } = await selectNeighbours(sql, ctx, { series: of, place: report })
  const { used, isNewSession } = countTotal(
    figuresOf(tokens),
    before && figuresOf(before),
    after && figuresOf(after),
  )
  return {
    provider,
    model,
    tokens: tokensOf(used),
    reportedUsd: reportedUsd && countDollars(reportedUsd, usd.usdBefore, usd.usdAfter),
    series,
    figures: tokens,
    usdFigure: reportedUsd,
    isNewSession,
  }
}

/** Dollars are a series of their own: a program may leave them out of a report. */
function countDollars(now: string, before: string | null, after: string | null): string {
  const { used } = countTotal(
    dollarsOf(now),
    before === null ? null : dollarsOf(before),
    after === null ? null : dollarsOf(after),
  )
  return fromTrillionths(used['usd'] ?? 0n)
}

function dollarsOf(amount: string): Figures {
  return { usd: toTrillionths(amount) }
}

/** Adds what the line cost by a price table; tokens that have no price are counted as such. */
export function priceLine(
  prices: Prices | undefined,
  line: CountedLine,
): Omit<NewLine, 'position'> {
  const { tokens, provider, model } = line
  const price = costOf(prices, { provider: provider || null, model }, tokens)
  const total = TOKEN_CLASSES.reduce((sum, kind) => sum + tokens[kind], 0)
  return { ...line, ...price, unpricedTokens: price.cost === null ? total : 0 }
}
