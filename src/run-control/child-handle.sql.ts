import type { ChildHandle } from '#contract/child-handles.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import type { RunRow } from '#runs/run.sql.ts'
import type { NarrowGrant } from './child.ts'

export interface ChildRow extends NarrowGrant {
  id: string
  runId: string
  sequence: number
  correlationId: string
  title: string
  taskId: string
  /** Public number of the child's task, decimal text. */
  taskNumber: string
  workspaceId: string | null
  cancellationPolicy: ChildHandle['cancellationPolicy']
  expiresAt: Date
  isExpired: boolean
  isClaimed: boolean
  revokedAt: Date | null
  revokeReason: string | null
  newestRunId: string | null
  newestRunStatus: RunRow['status'] | null
  resultRunId: string | null
  resultOutput: Record<string, unknown> | null
  resultAt: Date | null
  createdBy: string
  createdAt: Date
}

/**
 * Handles `h` with their tasks, live claims, newest runs and first successes. Uses the index
 * one_active_claim_per_task and one_run_per_attempt.
 */
function selectJoined(sql: Sql) {
  return sql`
    select h.id, h.run_id, h.sequence, h.correlation_id, h.title, h.task_id,
           t.number as task_number, t.workspace_id, h.permissions, h.skills,
           h.max_duration_seconds, h.max_actions, h.max_tokens::float8 as max_tokens,
           trim_scale(h.max_cost)::text as max_cost, h.cancellation_policy, h.expires_at,
           h.expires_at <= clock_timestamp() as is_expired,
           coalesce(c.expires_at > clock_timestamp() and s.status = 'active'
             and s.expires_at > clock_timestamp(), false) as is_claimed,
           h.revoked_at, h.revoke_reason, newest.id as newest_run_id,
           newest.status as newest_run_status, won.id as result_run_id,
           won.output as result_output, won.finished_at as result_at, h.created_by, h.created_at
    from child_handles h
    join tasks t on t.tenant_id = h.tenant_id and t.id = h.task_id
    left join claims c
      on c.tenant_id = t.tenant_id and c.task_id = t.id and c.status = 'active'
    left join sessions s on s.tenant_id = c.tenant_id and s.id = c.session_id
    left join lateral (
      select r.id, r.status
      from runs r
      where r.tenant_id = h.tenant_id
        and r.task_id = h.task_id
      order by r.attempt desc
      limit 1) newest on true
    left join lateral (
      select r.id, r.output, r.finished_at
      from runs r
      where r.tenant_id = h.tenant_id
        and r.task_id = h.task_id
        and r.status = 'succeeded'
      order by r.attempt
      limit 1) won on true`
}

/** Adds the next child of a running run, whose lock the caller holds. Both rows or neither. */
export async function insertChild(
  sql: Sql,
  ctx: Ctx,
  child: NarrowGrant &
    Pick<ChildRow, 'id' | 'runId' | 'correlationId' | 'title' | 'taskId' | 'cancellationPolicy'> & {
      tokenHash: Buffer
      ttlSeconds: number
      /** The handle ends with this one, when that is earlier. */
      notAfter: Date | null
    },
): Promise<{ id: string } | undefined> {
  const { id, runId, permissions, skills, ttlSeconds, notAfter } = child
  const [row] = await sql<{ id: string }[]>`
    with run as (
      update runs
      set child_count = child_count + 1
      where tenant_id = ${ctx.tenantId}
        and id = ${runId}
        and status = 'running'
      returning child_count)
    insert into child_handles
      (tenant_id, id, run_id, sequence, correlation_id, title, task_id, token_hash, permissions,
       skills, max_duration_seconds, max_actions, max_tokens, max_cost, cancellation_policy,
       expires_at, created_by)
    select ${ctx.tenantId}, ${id}, ${runId}, run.child_count, ${child.correlationId},
           ${child.title}, ${child.taskId}, ${child.tokenHash}, ${permissions}::text[],
           ${skills}::text[], ${child.maxDurationSeconds}, ${child.maxActions},
           ${child.maxTokens}, ${child.maxCost},
           ${child.cancellationPolicy},
           least(clock_timestamp() + make_interval(secs => ${ttlSeconds}),
                 ${notAfter}::timestamptz),
           ${ctx.actorId}
    from run
    returning id`
  return row
}

export async function selectChild(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<ChildRow | undefined> {
  const [row] = await sql<ChildRow[]>`
    ${selectJoined(sql)}
    where h.tenant_id = ${ctx.tenantId}
      and h.id = ${id}
      ${inReach(sql, ctx, 't.workspace_id')}`
  return row
}

/** Uses the constraint one_child_per_correlation. */
export async function selectChildByCorrelation(
  sql: Sql,
  ctx: Tenancy,
  child: { runId: string; correlationId: string },
): Promise<ChildRow | undefined> {
  const [row] = await sql<ChildRow[]>`
    ${selectJoined(sql)}
    where h.tenant_id = ${ctx.tenantId}
      and h.run_id = ${child.runId}
      and h.correlation_id = ${child.correlationId}`
  return row
}

/** Oldest first, after a sequence. */
export async function selectChildren(
  sql: Sql,
  ctx: Tenancy,
  filter: { runId: string; after: number; limit: number },
): Promise<ChildRow[]> {
  const { runId, after, limit } = filter
  return await sql<ChildRow[]>`
    ${selectJoined(sql)}
    where h.tenant_id = ${ctx.tenantId}
      and h.run_id = ${runId}
      and h.sequence > ${after}
      ${inReach(sql, ctx, 't.workspace_id')}
    order by h.sequence
    limit ${limit}`
}

/** The newest children of every run of a task, oldest first. */
export async function selectChildrenOfTask(
  sql: Sql,
  ctx: Tenancy,
  task: { taskId: string; limit: number },
): Promise<ChildRow[]> {
  const rows = await sql<ChildRow[]>`
    ${selectJoined(sql)}
    join runs parent on parent.tenant_id = h.tenant_id and parent.id = h.run_id
    where h.tenant_id = ${ctx.tenantId}
      and parent.task_id = ${task.taskId}
      ${inReach(sql, ctx, 't.workspace_id')}
    order by h.created_at desc, h.id desc
    limit ${task.limit}`
  return rows.toReversed()
}

/** The children that a run takes along when it is cancelled. */
export async function selectCascading(sql: Sql, ctx: Tenancy, runId: string): Promise<ChildRow[]> {
  return await sql<ChildRow[]>`
    ${selectJoined(sql)}
    where h.tenant_id = ${ctx.tenantId}
      and h.run_id = ${runId}
      and h.cancellation_policy = 'cascade_cooperative'
      and h.revoked_at is null
    order by h.sequence`
}

/** What a request under a handle is narrowed to. */
export interface GrantRow extends NarrowGrant {
  id: string
  parentRunId: string
  taskId: string
  expiresAt: Date
  isExpired: boolean
  isRevoked: boolean
}

export async function selectGrant(
  sql: Sql,
  ctx: Tenancy,
  tokenHash: Buffer,
): Promise<GrantRow | undefined> {
  const [row] = await sql<GrantRow[]>`
    select id, run_id as parent_run_id, task_id, permissions, skills, max_duration_seconds,
           max_actions, max_tokens::float8 as max_tokens,
           trim_scale(max_cost)::text as max_cost, expires_at,
           expires_at <= clock_timestamp() as is_expired, revoked_at is not null as is_revoked
    from child_handles
    where tenant_id = ${ctx.tenantId}
      and token_hash = ${tokenHash}`
  return row
}

/** @returns false when it was revoked before */
export async function updateChildRevoked(
  sql: Sql,
  ctx: Tenancy,
  child: { id: string; reason: string | null },
): Promise<boolean> {
  const rows = await sql`
    update child_handles
    set revoked_at = clock_timestamp(), revoke_reason = ${child.reason}
    where tenant_id = ${ctx.tenantId}
      and id = ${child.id}
      and revoked_at is null
    returning id`
  return rows.length === 1
}
