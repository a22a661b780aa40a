import type { Hono } from 'hono'
import type { Spent } from '#contract/spent.ts'
import * as contract from '#contract/usage-reports.ts'
import type { UsageLine, UsageReport } from '#contract/usage-reports.ts'
import { pageOf, pageRequest } from '#db/page.ts'
import { bind, withStatus } from '#http/bind.ts'
import type { Deps } from '#http/bind.ts'
import { found } from '#lib/errors.ts'
import { selectRun } from '#runs/run.sql.ts'
import type { Recorded } from './record-report.ts'
import { selectLines, selectReports, selectRunUsage, selectUsageByModel } from './report.sql.ts'
import type { LineRow, ReportRow } from './report.sql.ts'
import { reportLateUsage, reportUsage } from './report-usage.ts'

/** What runs used: told by their holders, read by everybody who reads runs. */
export function usageRoutes(app: Hono, deps: Deps): void {
  bind(app, deps, contract.reportUsage, async (sql, ctx, { params, body }) =>
    recordedReply(await reportUsage(sql, ctx, { ...params, ...body })),
  )

  bind(app, deps, contract.reportLateUsage, async (sql, ctx, { params, body }) =>
    recordedReply(await reportLateUsage(sql, ctx, { ...params, ...body })),
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
    const { id: runId } = found(await selectRun(sql, ctx, params.id), 'run', params.id)
    const { spent: usage, lastSequence } = await selectRunUsage(sql, ctx, runId)
    const byModel = (await selectUsageByModel(sql, ctx, runId)).map(ofModel)
    return { runId, usage, byModel, lastSequence }
  })
}

function recordedReply({ report, lines, usage, deduplicated }: Recorded) {
  const reply = { report: reportReply(report, lines), deduplicated, usage: usage.spent }
  return withStatus(deduplicated ? 200 : 201, reply)
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
