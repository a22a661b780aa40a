import type { UsageMode } from '#contract/usage-reports.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

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
