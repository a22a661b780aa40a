import type { NewEvent } from '#contract/events.ts'
import { withEvents } from '#events/append.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { ClaimRow, NewClaim } from './claim.sql.ts'
import { moveTask } from './task.sql.ts'
import type { TaskMove, TaskMoved } from './task.sql.ts'

/**
 * Claims the next token of a task, moves the task and records the events, in one statement: what every
 * agent does all the time costs one round trip. The caller holds the task's lock and has read the task
 * under it.
 */
export async function insertClaim(
  sql: Sql,
  ctx: Ctx,
  claim: NewClaim,
  { move, events }: { move: TaskMove; events: readonly NewEvent[] },
): Promise<Pick<ClaimRow, 'expiresAt' | 'createdAt'>> {
  const [row] = await sql<[Pick<ClaimRow, 'expiresAt' | 'createdAt'>]>`
    with claimed as (
      insert into claims
        (tenant_id, id, task_id, session_id, principal_id, fencing_token, intent, ttl_seconds,
         expires_at)
      values
        (${ctx.tenantId}, ${claim.id}, ${claim.taskId}, ${claim.sessionId}, ${ctx.actorId},
         ${claim.fencingToken}, ${claim.intent}, ${claim.ttlSeconds},
         clock_timestamp() + make_interval(secs => ${claim.ttlSeconds}))
      returning expires_at, created_at
    ),
    moved as (${moveTask(sql, ctx, move)}),
    journaled as (${withEvents(sql, ctx, events)})
    select claimed.expires_at, claimed.created_at
    from claimed, moved`
  return row
}

/** Ends a live claim by finishing its task; the same in one statement. */
export async function updateClaimFinished(
  sql: Sql,
  ctx: Ctx,
  claim: { id: string; reason: string },
  { move, events }: { move: TaskMove; events: readonly NewEvent[] },
): Promise<TaskMoved> {
  const [row] = await sql<TaskMoved[]>`
    with ended as (
      update claims
      set status = 'released',
          end_reason = ${claim.reason},
          ended_at = clock_timestamp(),
          version = version + 1
      where tenant_id = ${ctx.tenantId}
        and id = ${claim.id}
        and ended_at is null
      returning id
    ),
    moved as (${moveTask(sql, ctx, move)}),
    journaled as (${withEvents(sql, ctx, events)})
    select moved.version, moved.updated_at, moved.completed_at
    from ended, moved`
  if (!row) throw new Error(`claim ${claim.id} ended although its task is locked`)
  return row
}
