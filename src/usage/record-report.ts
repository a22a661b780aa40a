import { selectPricesInForce } from '#accounting/price-table.sql.ts'
import type { GivenLine, UsageMode } from '#contract/usage-reports.ts'
import type { Sql } from '#db/sql.ts'
import { lockEntities } from '#events/append.ts'
import { normalAmount } from '#lib/amount.ts'
import type { Ctx } from '#lib/ctx.ts'
import { AppError } from '#lib/errors.ts'
import { newId, sha256 } from '#lib/id.ts'
import { canonicalJson } from '#lib/json.ts'
import type { RunRow } from '#runs/run.sql.ts'
import { countLine, priceLine } from './count-line.ts'
import { insertLines, selectLines } from './line.sql.ts'
import type { LineRow, NewLine } from './line.sql.ts'
import { insertReport, selectReport } from './report.sql.ts'
import type { ReportRow } from './report.sql.ts'
import { addToSums } from './sums.sql.ts'

/** What a holder tells. */
export interface NewReport {
  sequence: number
  mode: UsageMode
  cliSessionId?: string | undefined
  lines: readonly GivenLine[]
}

export interface Recorded {
  report: ReportRow
  lines: LineRow[]
  deduplicated: boolean
}

/**
 * Records what a locked run used, once for each sequence, and adds it to the sums of the run and of the
 * day. Totals are taken against those of the same session of the program, whichever run told them, under
 * a lock of that session. Throws `usage_sequence_reused`.
 */
export async function recordReport(
  sql: Sql,
  ctx: Ctx,
  run: RunRow,
  input: NewReport & { fencingToken: number | null },
): Promise<Recorded> {
  const { sequence, mode, fencingToken, cliSessionId = null } = input
  const fingerprint = fingerprintOf(input)
  const known = await selectReport(sql, ctx, { runId: run.id, sequence })
  if (known) {
    if (known.fingerprint !== fingerprint) throw reused(run, sequence)
    return await readRecorded(sql, ctx, known, true)
  }
  const { id: runId, createdAt: runStartedAt, principalId, workspaceId, ancestorIds } = run
  const owner = { principalId, workspaceId, ancestorIds }
  const place = { runId, runStartedAt, sequence, cliSessionId, ...owner }
  if (mode !== 'delta') {
    const id = `${principalId}/${cliSessionId}`
    await lockEntities(sql, ctx, [{ type: 'cli_session', id }])
  }
  const prices = await selectPricesInForce(sql, ctx)
  const lines: NewLine[] = []
  for (const [index, line] of input.lines.entries()) {
    const counted = await countLine(sql, ctx, { report: place, mode, line })
    lines.push({ ...priceLine(prices, counted), position: index + 1 })
  }
  const row = { id: newId(), runId, sequence, mode, cliSessionId, fingerprint, fencingToken }
  // One after the other on their connection, without waiting for each answer.
  const [report] = await Promise.all([
    insertReport(sql, ctx, row),
    insertLines(sql, ctx, place, lines),
    addToSums(sql, ctx, place, lines),
  ])
  return await readRecorded(sql, ctx, report, false)
}

/** Equal for reports that tell the same, however amounts are spelled. */
function fingerprintOf({ mode, cliSessionId, lines }: NewReport): string {
  const told = lines.map(({ reportedUsd, ...line }) => ({
    ...line,
    reportedUsd: reportedUsd && normalAmount(reportedUsd),
  }))
  return sha256(canonicalJson({ mode, cliSessionId: cliSessionId ?? null, lines: told }))
}

function reused(run: RunRow, sequence: number): AppError {
  return new AppError(
    'usage_sequence_reused',
    `Cannot record report ${sequence} of run "${run.id}": another one has this sequence`,
    { details: { sequence } },
  )
}

async function readRecorded(
  sql: Sql,
  ctx: Ctx,
  report: ReportRow,
  deduplicated: boolean,
): Promise<Recorded> {
  const { runId, sequence } = report
  const lines = await selectLines(sql, ctx, { runId, sequences: [sequence] })
  return { report, lines, deduplicated }
}
