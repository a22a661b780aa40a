import type { Hono } from 'hono'
import type { Spent } from '#contract/spent.ts'
import * as contract from '#contract/usage-reports.ts'
import type { UsageLine, UsageReport } from '#contract/usage-reports.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind, withStatus } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { usedUpOf } from '#runs/budget.ts'
import { selectRun } from '#runs/run.sql.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { selectLines } from './line.sql.ts'
import type { LineRow } from './line.sql.ts'
import { selectReports } from './report.sql.ts'
import type { ReportRow } from './report.sql.ts'
import { reportLateUsage, reportUsage } from './report-usage.ts'
import type { Reported } from './report-usage.ts'
import { selectLastSequence, selectUsageByModel } from './sums.sql.ts'

/** What runs used: told by their holders, read by everybody who reads runs. */
export function usageRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, contract.reportUsage, async (sql, ctx, { params, body }) =>
    reportedReply(await reportUsage(sql, ctx, { ...params, ...body })),
  )

  bind(app, deps, contract.reportLateUsage, async (sql, ctx, { params, body }) =>
    reportedReply(await reportLateUsage(sql, ctx, { ...params, ...body })),
  )

  bind(app, deps, contract.listUsageReports, async (sql, ctx, { params, query }) => {
    const { id: runId } = found(await selectRun(sql, ctx, params.id), 'run', params.id)
    const page = pageRequest(`usage-reports?run=${runId}`, query)
    const rows = await selectReports(sql, ctx, { runId, page })
    const sequences = rows.map(({ sequence }) => sequence)
    const lines = await selectLines(sql, ctx, { runId, sequences })
    return pageOf(page, rows, (row) =>
      reportReply(
        row,
        lines.filter(({ sequence }) => sequence === row.sequence),
      ),
    )
  })

  bind(app, deps, contract.getRunUsage, async (sql, ctx, { params }) => {
    const run = found(await selectRun(sql, ctx, params.id), 'run', params.id)
    const byModel = (await selectUsageByModel(sql, ctx, run.id)).map(ofModel)
    const lastSequence = await selectLastSequence(sql, ctx, run.id)
    return { runId: run.id, ...budgetOf(run), byModel, lastSequence }
  })
}

function reportedReply({ report, lines, run, deduplicated }: Reported) {
  const reply = { report: reportReply(report, lines), deduplicated, ...budgetOf(run) }
  return withStatus(deduplicated ? 200 : 201, reply)
}

function budgetOf(run: RunRow) {
  const { usage, maxTokens, maxCost, tokensLeft, costLeft } = run
  return { usage, maxTokens, maxCost, tokensLeft, costLeft, usedUp: usedUpOf(run) }
}

function reportReply(row: ReportRow, lines: readonly LineRow[]): UsageReport {
  const { id, runId, sequence, mode, cliSessionId, fencingToken, createdAt } = row
  return {
    id,
    runId,
    sequence,
    mode,
    cliSessionId,
    late: fencingToken === null,
    lines: lines.map(lineReply),
    recordedAt: createdAt.toISOString(),
  }
}

function lineReply({ priceVersion, unpriced, isNewSession, ...line }: LineRow): UsageLine {
  return { ...ofModel(line), priceVersion, unpriced, newSession: isNewSession }
}

function ofModel({ provider, model, spent }: { provider: string; model: string; spent: Spent }) {
  return { provider: provider || null, model, ...spent }
}
