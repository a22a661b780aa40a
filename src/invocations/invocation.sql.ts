import type { InvocationError, SkillInvocation } from '#contract/skill-invocations.ts'
import type { SkillContract } from '#contract/skills.ts'
import { newerThan, olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { LEASE_MARGIN_SECONDS } from './invocation.ts'
import type { InvocationState } from './invocation.ts'

type Moments = 'leaseExpiresAt' | 'availableAt' | 'createdAt' | 'finishedAt'

export interface InvocationRow
  extends
    Omit<SkillInvocation, Moments | 'status' | 'fencingToken' | 'maxAttempts' | 'outputs'>,
    Omit<InvocationState, 'contract'> {
  contract: SkillContract
  outputs: Record<string, unknown> | null
  leaseExpiresAt: Date | null
  availableAt: Date
  /** When the next attempt may begin: of a running one, when its lease is lost. */
  dueAt: Date
  createdAt: Date
  finishedAt: Date | null
}

/** Calls `i` of skills `s`, for runs `r` under claims `c` held in sessions `h`. */
function selectJoined(sql: Sql) {
  return sql`
    select i.id, i.skill_id, s.name as skill_name, s.version as skill_version, s.protocol,
           s.status as skill_status, s.side_effects, s.contract, i.workspace_id, i.run_id,
           i.action_id, i.basis, i.approval_id, i.invoked_by, i.inputs, i.status, i.fencing_token,
           i.executor_id, i.lease_expires_at, i.available_at, i.outputs, i.error, i.reason,
           i.version, i.created_at, i.finished_at, due.due_at,
           coalesce(i.lease_expires_at <= clock_timestamp(), false) as is_lease_over,
           due.due_at <= clock_timestamp() as is_due,
           i.run_id is null or coalesce(
             r.status = 'running' and c.status = 'active' and c.expires_at > clock_timestamp()
               and h.status = 'active' and h.expires_at > clock_timestamp(), false) as is_wanted
    from skill_invocations i
    join skills s on s.tenant_id = i.tenant_id and s.id = i.skill_id
    left join runs r on r.tenant_id = i.tenant_id and r.id = i.run_id
    left join claims c on c.tenant_id = r.tenant_id and c.id = r.claim_id
    left join sessions h on h.tenant_id = c.tenant_id and h.id = c.session_id
    cross join lateral (
      select case when i.status = 'running'
               then i.lease_expires_at + make_interval(
                 secs => (s.contract -> 'retryPolicy' ->> 'backoffSeconds')::int)
               else i.available_at end as due_at) due`
}

export async function insertInvocation(
  sql: Sql,
  ctx: Ctx,
  call: Pick<InvocationRow, 'id' | 'skillId' | 'workspaceId' | 'runId' | 'actionId' | 'basis'> &
    Pick<InvocationRow, 'approvalId' | 'inputs'>,
): Promise<void> {
  await sql`
    insert into skill_invocations
      (tenant_id, id, skill_id, workspace_id, run_id, action_id, basis, approval_id, invoked_by,
       inputs)
    values
      (${ctx.tenantId}, ${call.id}, ${call.skillId}, ${call.workspaceId}, ${call.runId},
       ${call.actionId}, ${call.basis}, ${call.approvalId}, ${ctx.actorId},
       ${sql.json(call.inputs as never)})`
}

export async function selectInvocation(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<InvocationRow | undefined> {
  const [row] = await sql<InvocationRow[]>`
    ${selectJoined(sql)}
    where i.tenant_id = ${ctx.tenantId}
      and i.id = ${id}
      ${inReach(sql, ctx, 'i.workspace_id')}`
  return row
}

export interface InvocationFilter {
  /** Only what this principal called. */
  invokedBy?: string | undefined
  status?: string | undefined
  skillId?: string | undefined
  runId?: string | undefined
  protocol?: string | undefined
  claimable?: boolean | undefined
}

/**
 * Newest first; with `claimable` what an executor may find free, the oldest first. Uses indexes
 * skill_invocations_by_time, _by_invoker, _by_skill, _by_run, _open. Reads one row more than the page holds.
 */
export async function selectInvocations(
  sql: Sql,
  ctx: Tenancy,
  filter: InvocationFilter & { page: PageRequest },
): Promise<InvocationRow[]> {
  const { page, invokedBy, status, skillId, runId, protocol, claimable = false } = filter
  const free = sql`
    and i.status in ('pending', 'running')
    and (i.lease_expires_at is null or i.lease_expires_at <= clock_timestamp())
    and due.due_at <= clock_timestamp()`
  return await sql<InvocationRow[]>`
    select found.*
    from (
      ${selectJoined(sql)}
      where i.tenant_id = ${ctx.tenantId}
        ${invokedBy === undefined ? sql`` : sql`and i.invoked_by = ${invokedBy}`}
        ${status === undefined ? sql`` : sql`and i.status = ${status}`}
        ${skillId === undefined ? sql`` : sql`and i.skill_id = ${skillId}`}
        ${runId === undefined ? sql`` : sql`and i.run_id = ${runId}`}
        ${protocol === undefined ? sql`` : sql`and s.protocol = ${protocol}`}
        ${claimable ? free : sql``}
        ${inReach(sql, ctx, 'i.workspace_id')}
    ) as found
    where true
      ${claimable ? newerThan(sql, page) : olderThan(sql, page)}
    order by ${claimable ? sql`created_at, id` : sql`created_at desc, id desc`}
    limit ${page.limit + 1}`
}

/** Seconds that an attempt may be without a sign of life, of the skill `s`. */
function leaseLength(sql: Sql) {
  return sql`make_interval(
    secs => (s.contract ->> 'timeoutSeconds')::int + ${LEASE_MARGIN_SECONDS}::int)`
}

/** Begins the next attempt of a pending call whose lock the caller holds. */
export async function updateClaimed(sql: Sql, ctx: Ctx, id: string): Promise<boolean> {
  const rows = await sql`
    update skill_invocations i
    set status = 'running',
        fencing_token = i.fencing_token + 1,
        executor_id = ${ctx.actorId},
        lease_expires_at = clock_timestamp() + ${leaseLength(sql)},
        version = i.version + 1
    from skills s
    where i.tenant_id = ${ctx.tenantId}
      and i.id = ${id}
      and i.status = 'pending'
      and s.tenant_id = i.tenant_id
      and s.id = i.skill_id
    returning i.id`
  return rows.length === 1
}

/** The lease that an executor shows. */
export interface Lease {
  executorId: string
  fencingToken: number
}

/** The lease is still live and of the newest attempt: what every write of an executor asks. */
function isHeld(sql: Sql, { executorId, fencingToken }: Lease) {
  return sql`
    i.status = 'running'
    and i.executor_id = ${executorId}
    and i.fencing_token = ${fencingToken}
    and i.lease_expires_at > clock_timestamp()`
}

/** Renews a live lease; not a new version. */
export async function extendLease(
  sql: Sql,
  ctx: Tenancy,
  call: { id: string; lease: Lease },
): Promise<boolean> {
  const rows = await sql`
    update skill_invocations i
    set lease_expires_at = clock_timestamp() + ${leaseLength(sql)}
    from skills s
    where i.tenant_id = ${ctx.tenantId}
      and i.id = ${call.id}
      and ${isHeld(sql, call.lease)}
      and s.tenant_id = i.tenant_id
      and s.id = i.skill_id
    returning i.id`
  return rows.length === 1
}

/** @returns the version afterwards, or undefined when the lease was lost */
export async function updateSucceeded(
  sql: Sql,
  ctx: Tenancy,
  call: { id: string; lease: Lease; outputs: Record<string, unknown> },
): Promise<number | undefined> {
  const [row] = await sql<{ version: number }[]>`
    update skill_invocations i
    set status = 'succeeded',
        outputs = ${sql.json(call.outputs as never)},
        lease_expires_at = null,
        finished_at = clock_timestamp(),
        version = i.version + 1
    where i.tenant_id = ${ctx.tenantId}
      and i.id = ${call.id}
      and ${isHeld(sql, call.lease)}
    returning i.version`
  return row?.version
}

/** How an attempt ended without success. */
export interface Miss {
  id: string
  status: 'pending' | 'failed'
  reason: 'executor' | 'lease_expired'
  error: InvocationError | null
  /** Of the executor that says so; undefined when it was lost without a word. */
  lease: Lease | undefined
}

/**
 * Ends an attempt: for good, or so that another may follow after the backoff, counted from the end of the
 * lease when that was lost. The caller holds the lock.
 *
 * @returns the version afterwards, or undefined when the attempt had ended otherwise
 */
export async function updateMissed(
  sql: Sql,
  ctx: Tenancy,
  miss: Miss,
): Promise<number | undefined> {
  const { id, status, reason, error, lease } = miss
  const isOver = sql`i.status = 'running' and i.lease_expires_at <= clock_timestamp()`
  const [row] = await sql<{ version: number }[]>`
    update skill_invocations i
    set status = ${status},
        reason = ${status === 'failed' ? reason : null},
        error = coalesce(${error === null ? null : sql.json(error)}, i.error),
        available_at = ${lease ? sql`clock_timestamp()` : sql`i.lease_expires_at`}
          + make_interval(secs => (s.contract -> 'retryPolicy' ->> 'backoffSeconds')::int),
        lease_expires_at = null,
        finished_at = ${status === 'failed' ? sql`clock_timestamp()` : null},
        version = i.version + 1
    from skills s
    where i.tenant_id = ${ctx.tenantId}
      and i.id = ${id}
      and ${lease ? isHeld(sql, lease) : isOver}
      and s.tenant_id = i.tenant_id
      and s.id = i.skill_id
    returning i.version`
  return row?.version
}

/** @returns the version afterwards, or undefined when it had ended before */
export async function updateCancelled(
  sql: Sql,
  ctx: Tenancy,
  call: { id: string; reason: string | null },
): Promise<number | undefined> {
  const [row] = await sql<{ version: number }[]>`
    update skill_invocations
    set status = 'cancelled',
        reason = ${call.reason},
        lease_expires_at = null,
        finished_at = clock_timestamp(),
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${call.id}
      and status in ('pending', 'running')
    returning version`
  return row?.version
}

/**
 * Calls, in every tenant, whose executors were lost, and calls that wait for nobody any more. Uses index
 * skill_invocations_open.
 */
export async function selectOverdueInvocations(
  sql: Sql,
  limit: number,
): Promise<{ tenantId: string; id: string }[]> {
  return await sql<{ tenantId: string; id: string }[]>`
    (select tenant_id, id
     from skill_invocations
     where status = 'running'
       and lease_expires_at <= clock_timestamp()
     order by lease_expires_at
     limit ${limit})
    union all
    (select i.tenant_id, i.id
     from skill_invocations i
     join skills s on s.tenant_id = i.tenant_id and s.id = i.skill_id
     left join runs r on r.tenant_id = i.tenant_id and r.id = i.run_id
     where i.status = 'pending'
       and (s.status = 'disabled' or r.status <> 'running')
     limit ${limit})`
}
