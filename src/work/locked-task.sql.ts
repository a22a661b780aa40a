import type { Lifecycle } from '#contract/task-types.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { handleOf } from './child-task.ts'
import type { ClaimRow } from './claim.sql.ts'
import { isUngated } from './gate.sql.ts'
import { isReady } from './readiness.sql.ts'
import { isLiveClaim, joinClaim, taskColumns } from './task.sql.ts'
import type { TaskRow } from './task.sql.ts'

/** A task that only this transaction can change, with what a command has to know before it does. */
export type LockedTask = TaskRow & {
  /** The rules by which it moves. */
  lifecycle: Lifecycle
  /** Whether it waits for other tasks. */
  isWaiting: boolean
  /** Whether a gate may hold it up. */
  isGated: boolean
  /** The claim that is recorded as active, live or not. */
  claim: ClaimRow | undefined
  /** The run that is going on under that claim. */
  runningRunId: string | null
}

interface Row extends TaskRow {
  lifecycle: Lifecycle
  isWaiting: boolean
  isGated: boolean
  runningRunId: string | null
  claimId: string | null
  claimSessionId: string
  claimPrincipalId: string
  claimFencingToken: number
  claimIsLive: boolean
  claimRemainingSeconds: number
  claimIntent: string | null
  claimTtlSeconds: number
  claimExpiresAt: Date
  claimVersion: number
  claimCreatedAt: Date
}

/**
 * Reads the task, within reach, and holds its row until the transaction ends. Every table is entered by a
 * key; the run by the attempts of the task, which are few.
 */
export async function lockTaskRow(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<LockedTask | undefined> {
  const [row] = await sql<Row[]>`
    select ${taskColumns(sql)}, k.lifecycle, not ${isReady(sql)} as is_waiting,
           not ${isUngated(sql)} as is_gated, r.id as running_run_id, c.id as claim_id,
           c.session_id as claim_session_id, c.principal_id as claim_principal_id,
           c.fencing_token as claim_fencing_token, ${isLiveClaim(sql)} as claim_is_live,
           greatest(1, ceil(extract(epoch from c.expires_at - clock_timestamp())))::int
             as claim_remaining_seconds,
           c.intent as claim_intent, c.ttl_seconds as claim_ttl_seconds,
           c.expires_at as claim_expires_at, c.version as claim_version,
           c.created_at as claim_created_at
    from tasks t
    join task_types k
      on k.tenant_id = t.tenant_id and k.key = t.type_key and k.version = t.type_version
    ${joinClaim(sql)}
    left join runs r
      on r.tenant_id = t.tenant_id and r.task_id = t.id
      and r.claim_id = c.id and r.finished_at is null
    where t.tenant_id = ${ctx.tenantId}
      and t.id = ${id}
      ${inReach(sql, ctx, 't.workspace_id')}
    for update of t`
  return row && toTask(row)
}

function toTask(row: Row): LockedTask {
  const { claimId, claimSessionId, claimPrincipalId, claimFencingToken, ...rest } = row
  const { claimIsLive, claimRemainingSeconds, claimIntent, claimTtlSeconds, ...others } = rest
  const { claimExpiresAt, claimVersion, claimCreatedAt, ...task } = others
  if (claimId === null) return { ...task, claim: undefined }
  const claim: ClaimRow = {
    id: claimId,
    taskId: task.id,
    taskNumber: task.number,
    workspaceId: task.workspaceId,
    sessionId: claimSessionId,
    principalId: claimPrincipalId,
    fencingToken: claimFencingToken,
    lastFencingToken: task.lastFencingToken,
    status: 'active',
    isLive: claimIsLive,
    remainingSeconds: claimRemainingSeconds,
    handleId: handleOf(task),
    intent: claimIntent,
    ttlSeconds: claimTtlSeconds,
    expiresAt: claimExpiresAt,
    endReason: null,
    endedAt: null,
    version: claimVersion,
    createdAt: claimCreatedAt,
  }
  return { ...task, claim }
}

/** The task as others see it. */
export function withoutLock(task: LockedTask): TaskRow {
  const {
    lifecycle: _,
    isWaiting: __,
    isGated: ___,
    claim: ____,
    runningRunId: _____,
    ...row
  } = task
  return row
}
