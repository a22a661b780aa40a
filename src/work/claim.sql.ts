import { CHILD_RUN_ORIGIN } from '#contract/child-run.ts'
import type { Claim } from '#contract/claims.ts'
import { inReach } from '#db/reach.ts'
import { lockFound } from '#events/append.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface ClaimRow {
  id: string
  taskId: string
  /** Public number of the task, decimal text. */
  taskNumber: string
  /** The workspace of the task, which the claim's events are stamped with. */
  workspaceId: string | null
  sessionId: string
  principalId: string
  fencingToken: number
  /** The token of the task's newest claim; greater than this claim's once another took over. */
  lastFencingToken: number
  status: Claim['status']
  /** Active, and neither its own lease nor that of its session over, by the database clock. */
  isLive: boolean
  /** Whole seconds until the lease ends, at least 1. */
  remainingSeconds: number
  /** The child handle that its task was made for. */
  handleId: string | null
  intent: string | null
  ttlSeconds: number
  expiresAt: Date
  endReason: string | null
  endedAt: Date | null
  version: number
  createdAt: Date
}

/** Of claims `c` of tasks `t` held under sessions `s`. */
function columns(sql: Sql) {
  return sql`c.id, c.task_id, t.number as task_number, t.workspace_id, c.session_id, c.principal_id,
           c.fencing_token, t.last_fencing_token, c.status,
           c.status = 'active' and c.expires_at > clock_timestamp()
             and s.status = 'active' and s.expires_at > clock_timestamp() as is_live,
           greatest(1, ceil(extract(epoch from c.expires_at - clock_timestamp())))::int
             as remaining_seconds,
           case when t.origin ->> 'kind' = ${CHILD_RUN_ORIGIN} then t.origin ->> 'ref' end
             as handle_id,
           c.intent, c.ttl_seconds, c.expires_at, c.end_reason, c.ended_at, c.version, c.created_at`
}

function selectJoined(sql: Sql) {
  return sql`
    select ${columns(sql)}
    from claims c
    join tasks t on t.tenant_id = c.tenant_id and t.id = c.task_id
    join sessions s on s.tenant_id = c.tenant_id and s.id = c.session_id`
}

export type NewClaim = Pick<
  ClaimRow,
  'id' | 'taskId' | 'sessionId' | 'fencingToken' | 'ttlSeconds' | 'intent'
>

export async function selectClaim(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<ClaimRow | undefined> {
  const [row] = await sql<ClaimRow[]>`
    ${selectJoined(sql)}
    where c.tenant_id = ${ctx.tenantId}
      and c.id = ${id}
      ${inReach(sql, ctx, 't.workspace_id')}`
  return row
}

/**
 * The claim that is recorded as active, live or not: only the newest can be. Uses the key
 * one_claim_per_token, whose entries do not die with the claims.
 */
export async function selectActiveClaim(
  sql: Sql,
  ctx: Tenancy,
  taskId: string,
): Promise<ClaimRow | undefined> {
  const [row] = await sql<ClaimRow[]>`
    ${selectJoined(sql)}
    where c.tenant_id = ${ctx.tenantId}
      and c.task_id = ${taskId}
      and c.fencing_token = t.last_fencing_token
      and c.ended_at is null`
  return row
}

/** The claim that a run was started under. */
export async function selectClaimOfRun(
  sql: Sql,
  ctx: Tenancy,
  runId: string,
): Promise<ClaimRow | undefined> {
  const [row] = await sql<ClaimRow[]>`
    ${selectJoined(sql)}
    where c.tenant_id = ${ctx.tenantId}
      and c.id = (
        select claim_id
        from runs
        where tenant_id = ${ctx.tenantId}
          and id = ${runId})
      ${inReach(sql, ctx, 't.workspace_id')}`
  return row
}

/** Uses index claims_by_session. */
export async function selectClaimsOfSession(
  sql: Sql,
  ctx: Tenancy,
  sessionId: string,
): Promise<ClaimRow[]> {
  return await sql<ClaimRow[]>`
    ${selectJoined(sql)}
    where c.tenant_id = ${ctx.tenantId}
      and c.session_id = ${sessionId}
      and c.status = 'active'
    order by c.id`
}

/** A live claim of the caller with what a harness shows of its task. */
export type HeldClaimRow = ClaimRow & { taskTitle: string; taskStatus: string }

/** The caller's live claims, newest first. Uses index claims_by_principal. */
export async function selectLiveClaims(sql: Sql, ctx: Ctx, limit: number): Promise<HeldClaimRow[]> {
  return await sql<HeldClaimRow[]>`
    select held.*, t.title as task_title, t.status as task_status
    from (
      ${selectJoined(sql)}
      where c.tenant_id = ${ctx.tenantId}
        and c.principal_id = ${ctx.actorId}
        and c.status = 'active'
        ${inReach(sql, ctx, 't.workspace_id')}
    ) as held
    join tasks t on t.tenant_id = ${ctx.tenantId} and t.id = held.task_id
    where held.is_live
    order by held.created_at desc, held.id desc
    limit ${limit}`
}

/** Takes the lock of the task that a claim is of, if the claim is there. */
export async function lockTaskOfClaim(sql: Sql, ctx: Tenancy, id: string): Promise<void> {
  await sql`
    select ${lockFound(sql, ctx, { type: 'task', column: 'c.task_id' })}
    from claims c
    where c.tenant_id = ${ctx.tenantId}
      and c.id = ${id}`
}

/**
 * Renews the lease of a live claim within reach, of this holder unless it is null; `ttlSeconds` null
 * keeps the length it has. The caller holds the lock of its task. @returns the claim as it is then, or
 * undefined when there is no such live claim under this token
 */
export async function extendClaim(
  sql: Sql,
  ctx: Tenancy,
  claim: {
    id: string
    holderId: string | null
    fencingToken: number
    ttlSeconds: number | null
  },
): Promise<ClaimRow | undefined> {
  const { id, holderId, fencingToken, ttlSeconds } = claim
  const [row] = await sql<ClaimRow[]>`
    update claims c
    set ttl_seconds = coalesce(${ttlSeconds}::int, c.ttl_seconds),
        expires_at = clock_timestamp()
          + make_interval(secs => coalesce(${ttlSeconds}::int, c.ttl_seconds))
    from tasks t, sessions s
    where c.tenant_id = ${ctx.tenantId}
      and c.id = ${id}
      and c.fencing_token = ${fencingToken}
      and c.ended_at is null
      and c.expires_at > clock_timestamp()
      ${holderId === null ? sql`` : sql`and c.principal_id = ${holderId}`}
      and t.tenant_id = c.tenant_id
      and t.id = c.task_id
      and t.last_fencing_token = c.fencing_token
      ${inReach(sql, ctx, 't.workspace_id')}
      and s.tenant_id = c.tenant_id
      and s.id = c.session_id
      and s.status = 'active'
      and s.expires_at > clock_timestamp()
    returning ${columns(sql)}`
  return row
}

/** @returns the claim's version afterwards, or undefined when it was not active any more */
export async function updateClaimEnded(
  sql: Sql,
  ctx: Tenancy,
  claim: { id: string; status: 'released' | 'expired'; reason: string },
): Promise<number | undefined> {
  const [row] = await sql<{ version: number }[]>`
    update claims
    set status = ${claim.status},
        end_reason = ${claim.reason},
        ended_at = clock_timestamp(),
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${claim.id}
      and status = 'active'
    returning version`
  return row?.version
}

/** The id of the run that is going on under a claim. Uses index one_running_run_per_claim. */
export async function selectRunningRunId(
  sql: Sql,
  ctx: Tenancy,
  claimId: string,
): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id
    from runs
    where tenant_id = ${ctx.tenantId}
      and claim_id = ${claimId}
      and status = 'running'`
  return row?.id
}

/** What the journal says of a run that ended with its claim. */
export interface EndedRun {
  id: string
  taskId: string
  attempt: number
  version: number
}

/**
 * Fails the run that is going on under a claim, if any. The only statement outside the area of runs that
 * changes one: a claim never ends without its run. Uses index one_running_run_per_claim.
 */
export async function updateRunOfClaimFailed(
  sql: Sql,
  ctx: Tenancy,
  claim: { id: string; reason: string },
): Promise<EndedRun | undefined> {
  const [row] = await sql<EndedRun[]>`
    update runs
    set status = 'failed',
        reason = ${claim.reason},
        finished_at = clock_timestamp(),
        version = version + 1
    where tenant_id = ${ctx.tenantId}
      and claim_id = ${claim.id}
      and status = 'running'
    returning id, task_id, attempt, version`
  return row
}

/** Claims whose lease ended unrecorded, in every tenant. Reads the active
 * ones by claims_by_session. */
export async function selectOverdueClaims(
  sql: Sql,
  limit: number,
): Promise<{ tenantId: string; taskId: string }[]> {
  return await sql<{ tenantId: string; taskId: string }[]>`
    select tenant_id, task_id
    from claims
    where status = 'active'
      and expires_at <= clock_timestamp()
    order by expires_at
    limit ${limit}`
}
