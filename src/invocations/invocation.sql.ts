import type { SkillInvocation } from '#contract/skill-invocations.ts'
import type { SkillContract } from '#contract/skills.ts'
import { newerThan, olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
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
  /** Whole seconds until the next attempt may begin, at least 1. */
  waitSeconds: number
  createdAt: Date
  finishedAt: Date | null
}

/**
 * Calls `i` of skills `s` by principals `p`, for runs `r` under claims `c` held in sessions `h`; of all calls
 * unless a query says which.
 */
function selectJoined(sql: Sql, calls = sql`skill_invocations`) {
  return sql`
    select i.id, i.skill_id, s.name as skill_name, s.version as skill_version, s.protocol,
           s.status as skill_status, s.side_effects, s.contract, i.workspace_id, i.run_id,
           i.action_id, i.basis, i.approval_id, i.invoked_by, i.inputs, i.status, i.fencing_token,
           i.executor_id, i.lease_expires_at, i.available_at, i.outputs, i.error, i.reason,
           i.version, i.created_at, i.finished_at, due.due_at,
           coalesce(i.lease_expires_at <= clock_timestamp(), false) as is_lease_over,
           due.due_at <= clock_timestamp() as is_due,
           greatest(1, ceil(extract(epoch from
             greatest(i.lease_expires_at, due.due_at) - clock_timestamp())))::int as wait_seconds,
           p.status = 'active' as is_caller_active,
           i.run_id is null or coalesce(
             r.status = 'running' and c.status = 'active' and c.expires_at > clock_timestamp()
               and h.status = 'active' and h.expires_at > clock_timestamp(), false) as is_wanted
    from ${calls} i
    join skills s on s.tenant_id = i.tenant_id and s.id = i.skill_id
    join principals p on p.tenant_id = i.tenant_id and p.id = i.invoked_by
    left join runs r on r.tenant_id = i.tenant_id and r.id = i.run_id
    left join claims c on c.tenant_id = r.tenant_id and c.id = r.claim_id
    left join sessions h on h.tenant_id = c.tenant_id and h.id = c.session_id
    cross join lateral (
      select case when i.status = 'running'
               then i.lease_expires_at + make_interval(
                 secs => (s.contract -> 'retryPolicy' ->> 'backoffSeconds')::int)
               else i.available_at end as due_at) due`
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
}

/** What a filter asks of calls beside the tenant. */
function narrowed(sql: Sql, ctx: Tenancy, filter: InvocationFilter) {
  const { invokedBy, status, skillId, runId, protocol } = filter
  return sql`
      ${invokedBy === undefined ? sql`` : sql`and i.invoked_by = ${invokedBy}`}
      ${status === undefined ? sql`` : sql`and i.status = ${status}`}
      ${skillId === undefined ? sql`` : sql`and i.skill_id = ${skillId}`}
      ${runId === undefined ? sql`` : sql`and i.run_id = ${runId}`}
      ${
        protocol === undefined
          ? sql``
          : sql`and i.skill_id in (
              select id
              from skills
              where tenant_id = ${ctx.tenantId}
                and protocol = ${protocol})`
      }
      ${inReach(sql, ctx, 'i.workspace_id')}`
}

/**
 * Newest first. Uses indexes skill_invocations_by_time, _by_invoker, _by_skill, _by_run. Reads one row more
 * than the page holds.
 */
export async function selectInvocations(
  sql: Sql,
  ctx: Tenancy,
  filter: InvocationFilter & { page: PageRequest },
): Promise<InvocationRow[]> {
  const { page } = filter
  const calls = sql`(
    select i.*
    from skill_invocations i
    where i.tenant_id = ${ctx.tenantId}
      ${narrowed(sql, ctx, filter)}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1})`
  return await sql<InvocationRow[]>`
    ${selectJoined(sql, calls)}
    order by i.created_at desc, i.id desc`
}

/**
 * What an executor may find free, the oldest first. Uses index skill_invocations_open. Reads one row more than
 * the page holds.
 */
export async function selectClaimable(
  sql: Sql,
  ctx: Tenancy,
  filter: InvocationFilter & { page: PageRequest },
): Promise<InvocationRow[]> {
  const { page } = filter
  return await sql<InvocationRow[]>`
    select found.*
    from (
      ${selectJoined(sql)}
      where i.tenant_id = ${ctx.tenantId}
        ${narrowed(sql, ctx, filter)}
        and i.status in ('pending', 'running')
        and (i.lease_expires_at is null or i.lease_expires_at <= clock_timestamp())
        and due.due_at <= clock_timestamp()
    ) as found
    where true
      ${newerThan(sql, page)}
    order by created_at, id
    limit ${page.limit + 1}`
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
     join principals p on p.tenant_id = i.tenant_id and p.id = i.invoked_by
     left join runs r on r.tenant_id = i.tenant_id and r.id = i.run_id
     where i.status = 'pending'
       and (s.status = 'disabled' or p.status <> 'active' or r.status <> 'running')
     limit ${limit})`
}
