import type { RunAction } from '#contract/run-actions.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface ActionRow {
  id: string
  runId: string
  sequence: number
  action: string
  status: RunAction['status']
  skill: string | null
  externalReference: string | null
  metadata: Record<string, unknown>
  createdAt: Date
  finishedAt: Date | null
}

function columns(sql: Sql) {
  return sql`id, run_id, sequence, action, status, skill, external_reference, metadata, created_at,
    finished_at`
}

/** Adds the next action of a running run; both rows or neither. Not an event: the version stays. */
export async function insertAction(
  sql: Sql,
  ctx: Tenancy,
  action: Omit<ActionRow, 'sequence' | 'createdAt' | 'finishedAt'> & { fencingToken: number },
): Promise<ActionRow | undefined> {
  const { id, runId, status, skill, externalReference, metadata, fencingToken } = action
  const [row] = await sql<ActionRow[]>`
    with run as (
      update runs
      set action_count = action_count + 1
      where tenant_id = ${ctx.tenantId}
        and id = ${runId}
        and status = 'running'
      returning action_count)
    insert into run_actions
      (tenant_id, run_id, sequence, id, action, status, skill, external_reference, metadata,
       fencing_token, finished_at)
    select ${ctx.tenantId}, ${runId}, run.action_count, ${id}, ${action.action}, ${status},
           ${skill}, ${externalReference}, ${sql.json(metadata as never)}, ${fencingToken},
           case when ${status} <> 'started' then clock_timestamp() end
    from run
    returning ${columns(sql)}`
  return row
}

export async function selectAction(
  sql: Sql,
  ctx: Tenancy,
  action: { id: string; runId: string },
): Promise<ActionRow | undefined> {
  const [row] = await sql<ActionRow[]>`
    select ${columns(sql)}
    from run_actions
    where tenant_id = ${ctx.tenantId}
      and id = ${action.id}
      and run_id = ${action.runId}`
  return row
}

/** @returns the action afterwards, or undefined when it was finished before */
export async function updateActionFinished(
  sql: Sql,
  ctx: Tenancy,
  action: Pick<ActionRow, 'id' | 'status' | 'externalReference' | 'metadata'>,
): Promise<ActionRow | undefined> {
  const [row] = await sql<ActionRow[]>`
    update run_actions
    set status = ${action.status},
        external_reference = coalesce(${action.externalReference}, external_reference),
        metadata = metadata || ${sql.json(action.metadata as never)},
        finished_at = clock_timestamp()
    where tenant_id = ${ctx.tenantId}
      and id = ${action.id}
      and status = 'started'
    returning ${columns(sql)}`
  return row
}

/** Oldest first; all of them without a page. Reads one row more than a page holds. */
export async function selectActions(
  sql: Sql,
  ctx: Tenancy,
  filter: {
    runId: string
    page: PageRequest | undefined
    status: RunAction['status'] | undefined
  },
): Promise<ActionRow[]> {
  const { runId, page, status } = filter
  const after =
    page?.after &&
    sql`and sequence > (
      select last.sequence
      from run_actions last
      where last.tenant_id = ${ctx.tenantId}
        and last.run_id = ${runId}
        and last.id = ${page.after.id})`
  return await sql<ActionRow[]>`
    select ${columns(sql)}
    from run_actions
    where tenant_id = ${ctx.tenantId}
      and run_id = ${runId}
      ${status === undefined ? sql`` : sql`and status = ${status}`}
      ${after ?? sql``}
    order by sequence
    ${page === undefined ? sql`` : sql`limit ${page.limit + 1}`}`
}
