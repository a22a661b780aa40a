import type { InvocationError } from '#contract/skill-invocations.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'
import { LEASE_MARGIN_SECONDS } from './invocation.ts'
import type { InvocationRow } from './invocation.sql.ts'

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
