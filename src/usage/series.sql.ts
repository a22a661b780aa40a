import type { Tokens } from '#contract/spent.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

/** A series of totals: those of one session of a program, over however many runs it goes on. */
export interface Series {
  principalId: string
  cliSessionId: string
  series: string
}

/** Where a total stands in its series: by the start of its run, then by its number within the run. */
export interface Place {
  runId: string
  runStartedAt: Date
  sequence: number
}

/** The totals next to a place in a series, before and after it; dollars where they were told. */
export interface Neighbours {
  before: Tokens | null
  after: Tokens | null
  usdBefore: string | null
  usdAfter: string | null
}

/** Uses indexes usage_lines_by_series and usage_lines_with_dollars, two look-ups each. */
export async function selectNeighbours(
  sql: Sql,
  ctx: Tenancy,
  { series, place }: { series: Series; place: Place },
): Promise<Neighbours> {
  const at = sql`(run_started_at, run_id, sequence)`
  const here = sql`(${place.runStartedAt}::timestamptz, ${place.runId}::uuid, ${place.sequence}::int)`
  const before = sql`
    and ${at} < ${here}
    order by run_started_at desc, run_id desc, sequence desc
    limit 1`
  const after = sql`
    and ${at} > ${here}
    order by run_started_at, run_id, sequence
    limit 1`
  const [row] = await sql<[Neighbours]>`
    with series as not materialized (
      select run_started_at, run_id, sequence, figures, usd_figure
      from usage_lines
      where tenant_id = ${ctx.tenantId}
        and principal_id = ${series.principalId}
        and cli_session_id = ${series.cliSessionId}
        and series = ${series.series}
    )
    select (select figures from series where true ${before}) as before,
           (select figures from series where true ${after}) as after,
           (select usd_figure::text from series where usd_figure is not null ${before})
             as usd_before,
           (select usd_figure::text from series where usd_figure is not null ${after})
             as usd_after`
  return row
}
