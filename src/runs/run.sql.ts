import { spentObject } from '#accounting/spent.sql.ts'
import type { InstructionsRef, Run } from '#contract/runs.ts'
import type { Spent } from '#contract/spent.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import { lockFound } from '#events/append.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface RunRow {
  id: string
  taskId: string
  /** Public number of the task, decimal text. */
  taskNumber: string
  /** The workspace of the task, which the run's events are stamped with. */
  workspaceId: string | null
  claimId: string
  sessionId: string
  principalId: string
  fencingToken: number
  attempt: number
  status: Run['status']
  input: unknown
  output: unknown
  reason: string | null
  waitingForApprovalId: string | null
  cancelRequestedAt: Date | null
  cancelRequestReason: string | null
  model: string | null
  maxDurationSeconds: number | null
  /** Seconds since the run started, by the database clock. */
  ageSeconds: number
  maxActions: number | null
  actionCount: number
  checkpointCount: number
  /** What it used so far. */
  usage: Spent
  /** Tokens and decimal text; runs below it share them. Null is without a bound. */
  maxTokens: number | null
  maxCost: string | null
  /** Also of the runs above it; never below 0. */
  tokensLeft: number | null
  costLeft: string | null
  /** The runs that it spends from, the topmost first. */
  ancestorIds: string[]
  instructionsHash: string | null
  instructionsRefs: InstructionsRef[]
  version: number
  createdAt: Date
  finishedAt: Date | null
}

/** Runs `r` of tasks `t` with what they used. */
function selectJoined(sql: Sql, ctx: Tenancy) {
  return sql`
    select r.id, r.task_id, t.number as task_number, t.workspace_id, r.claim_id, r.session_id,
           r.principal_id, r.fencing_token, r.attempt, r.status, r.input, r.output, r.reason,
           r.waiting_for_approval_id, r.cancel_requested_at, r.cancel_request_reason, r.model,
           r.max_duration_seconds,
           extract(epoch from clock_timestamp() - r.created_at)::float8 as age_seconds,
           r.max_actions, r.action_count, r.checkpoint_count, r.instructions_hash,
           r.instructions_refs, r.version, r.created_at, r.finished_at,
           ${spentObject(sql, ctx, 'u', 'row')} as usage,
           r.max_tokens::float8 as max_tokens, trim_scale(r.max_cost)::text as max_cost,
           rest.tokens_left, rest.cost_left, r.ancestor_ids
    from runs r
    join tasks t on t.tenant_id = r.tenant_id and t.id = r.task_id
    left join run_usage u on u.tenant_id = r.tenant_id and u.run_id = r.id
    cross join lateral (
      select min(greatest(a.max_tokens - coalesce(used.tree_tokens, 0), 0))
               filter (where a.max_tokens is not null)::float8 as tokens_left,
             trim_scale(min(greatest(a.max_cost - coalesce(used.tree_cost, 0), 0))
               filter (where a.max_cost is not null))::text as cost_left
      from runs a
      left join run_usage used on used.tenant_id = a.tenant_id and used.run_id = a.id
      where a.tenant_id = r.tenant_id
        and a.id = any(r.ancestor_ids || r.id)
    ) rest`
}

/** Takes the lock of the task that a run is of, if the run is there. */
export async function lockTaskOfRun(sql: Sql, ctx: Tenancy, id: string): Promise<void> {
  await sql`
    select ${lockFound(sql, ctx, { type: 'task', column: 'r.task_id' })}
    from runs r
    where r.tenant_id = ${ctx.tenantId}
      and r.id = ${id}`
}

/** The next attempt of a task whose lock the caller holds. @returns its number */
export async function insertRun(
  sql: Sql,
  ctx: Ctx,
  run: Pick<RunRow, 'id' | 'taskId' | 'claimId' | 'sessionId' | 'fencingToken'> &
    Pick<
      RunRow,
      'input' | 'model' | 'maxDurationSeconds' | 'maxActions' | 'maxTokens' | 'maxCost'
    > &
    Pick<RunRow, 'ancestorIds' | 'instructionsHash' | 'instructionsRefs'>,
): Promise<number> {
  const [row] = await sql<[{ attempt: number }]>`
    insert into runs
      (tenant_id, id, task_id, claim_id, session_id, principal_id, fencing_token, attempt, input,
       model, max_duration_seconds, max_actions, max_tokens, max_cost, ancestor_ids,
       instructions_hash, instructions_refs)
    select ${ctx.tenantId}, ${run.id}, ${run.taskId}, ${run.claimId}, ${run.sessionId},
           ${ctx.actorId}, ${run.fencingToken}, coalesce(max(attempt), 0) + 1,
           ${run.input === null ? null : sql.json(run.input as never)}, ${run.model},
           ${run.maxDurationSeconds}, ${run.maxActions}, ${run.maxTokens}, ${run.maxCost},
           ${run.ancestorIds}::uuid[], ${run.instructionsHash},
           ${sql.json(run.instructionsRefs)}
    from runs
    where tenant_id = ${ctx.tenantId}
      and task_id = ${run.taskId}
    returning attempt`
  return row.attempt
}

export async function selectRun(sql: Sql, ctx: Tenancy, id: string): Promise<RunRow | undefined> {
  const [row] = await sql<RunRow[]>`
    ${selectJoined(sql, ctx)}
    where r.tenant_id = ${ctx.tenantId}
      and r.id = ${id}
      ${inReach(sql, ctx, 't.workspace_id')}`
  return row
}

/**
 * Newest first. Uses indexes runs_by_task, runs_by_time. Reads one row more than the page holds; which rows
 * these are is found before anything else is read of them.
 */
export async function selectRuns(
  sql: Sql,
  ctx: Tenancy,
  filter: { page: PageRequest; taskId: string | undefined; status: Run['status'] | undefined },
): Promise<RunRow[]> {
  const { page, taskId, status } = filter
  return await sql<RunRow[]>`
    ${selectJoined(sql, ctx)}
    where r.tenant_id = ${ctx.tenantId}
      and r.id in (
        select id
        from (
          select n.id, n.created_at
          from runs n
          join tasks at on at.tenant_id = n.tenant_id and at.id = n.task_id
          where n.tenant_id = ${ctx.tenantId}
            ${taskId === undefined ? sql`` : sql`and n.task_id = ${taskId}`}
            ${status === undefined ? sql`` : sql`and n.status = ${status}`}
            ${inReach(sql, ctx, 'at.workspace_id')}
        ) as kept
        where true
          ${olderThan(sql, page)}
        order by created_at desc, id desc
        limit ${page.limit + 1})
    order by r.created_at desc, r.id desc`
}

/** The caller's running runs whose claims are live, newest first. Uses index runs_by_principal. */
export async function selectActiveRuns(sql: Sql, ctx: Ctx, limit: number): Promise<RunRow[]> {
  return await sql<RunRow[]>`
    ${selectJoined(sql, ctx)}
    ${joinLease(sql)}
    where r.tenant_id = ${ctx.tenantId}
      and r.principal_id = ${ctx.actorId}
      and ${goesOn(sql)}
      ${inReach(sql, ctx, 't.workspace_id')}
    order by r.created_at desc, r.id desc
    limit ${limit}`
}

/** A run of the tenant, wherever its task is, while it goes on under a live claim. */
export async function selectLiveRun(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<RunRow | undefined> {
  const [row] = await sql<RunRow[]>`
    ${selectJoined(sql, ctx)}
    ${joinLease(sql)}
    where r.tenant_id = ${ctx.tenantId}
      and r.id = ${id}
      and ${goesOn(sql)}`
  return row
}

/** The claim `c` of a run and the session `s` of the claim. */
function joinLease(sql: Sql) {
  return sql`
    join claims c on c.tenant_id = r.tenant_id and c.id = r.claim_id
    join sessions s on s.tenant_id = c.tenant_id and s.id = c.session_id`
}

function goesOn(sql: Sql) {
  return sql`
    r.status = 'running'
      and c.status = 'active'
      and c.expires_at > clock_timestamp()
      and s.status = 'active'
      and s.expires_at > clock_timestamp()`
}

/** The caller's suspended runs, latest first. Uses index runs_suspended. */
export async function selectSuspendedRuns(sql: Sql, ctx: Ctx, limit: number): Promise<RunRow[]> {
  return await sql<RunRow[]>`
    ${selectJoined(sql, ctx)}
    where r.tenant_id = ${ctx.tenantId}
      and r.id in (
        select n.id
        from runs n
        join tasks at on at.tenant_id = n.tenant_id and at.id = n.task_id
        where n.tenant_id = ${ctx.tenantId}
          and n.principal_id = ${ctx.actorId}
          and n.status = 'suspended'
          ${inReach(sql, ctx, 'at.workspace_id')}
        order by n.finished_at desc, n.id desc
        limit ${limit})
    order by r.finished_at desc, r.id desc`
}

/** @returns the run's version afterwards, or undefined when it was not running any more */
export async function updateRunEnded(
  sql: Sql,
  ctx: Tenancy,
  run: {
    id: string
    status: 'succeeded' | 'failed' | 'cancelled' | 'suspended'
    reason: string | null
    output?: unknown
    waitingForApprovalId?: string | null
  },
): Promise<number | undefined> {
  const { id, status, reason, output, waitingForApprovalId = null } = run
  const [row] = await sql<{ version: number }[]>`
    update runs
    set status = ${status},
        reason = ${reason},
        output = ${output === undefined ? null : sql.json(output as never)},
        waiting_for_approval_id = ${waitingForApprovalId},
        finished_at = clock_timestamp(),
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      and status = 'running'
    returning version`
  return row?.version
}

/** Marks a running run as wanted to stop; undefined when it is not running, or was asked before. */
export async function updateRunCancelRequested(
  sql: Sql,
  ctx: Ctx,
  run: { id: string; reason: string | null },
): Promise<number | undefined> {
  const [row] = await sql<{ version: number }[]>`
    update runs
    set cancel_requested_at = clock_timestamp(),
        cancel_requested_by = ${ctx.actorId},
        cancel_request_reason = ${run.reason},
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${run.id}
      and status = 'running'
      and cancel_requested_at is null
    returning version`
  return row?.version
}
