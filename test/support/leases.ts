import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import { claimTask } from '#work/claim-task.ts'
import type { ClaimRow } from '#work/claim.sql.ts'
import { createTask } from '#work/create-task.ts'
import { openSession } from '#work/open-session.ts'
import type { TaskRow } from '#work/task.sql.ts'

export async function newTask(db: Database, ctx: Ctx, title = 'a task'): Promise<TaskRow> {
  return await transaction(db, 'read write', (sql) => createTask(sql, ctx, { title }))
}

/** @returns the id of a new session of the caller */
export async function newSession(db: Database, ctx: Ctx): Promise<string> {
  const { id } = await transaction(db, 'read write', (sql) =>
    openSession(sql, ctx, { clientName: 'test', metadata: {}, ttlSeconds: 60 }),
  )
  return id
}

/** Claims a task for a minute, in a new session unless one is given. */
export async function claimNow(
  db: Database,
  ctx: Ctx,
  input: { ref: string; sessionId?: string },
): Promise<ClaimRow> {
  const { ref, sessionId = await newSession(db, ctx) } = input
  return await transaction(db, 'read write', (sql) =>
    claimTask(sql, ctx, { ref, sessionId, ttlSeconds: 60 }),
  )
}

/** Lets a lease be over by now, as if its time had passed. */
export async function endLease(
  db: Database,
  ctx: Ctx,
  table: 'claims' | 'sessions' | 'skill_invocations',
  id: string,
): Promise<void> {
  const column = table === 'skill_invocations' ? 'lease_expires_at' : 'expires_at'
  await db`
    update ${db(table)}
    set ${db(column)} = clock_timestamp() - interval '1 millisecond'
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
}

export interface EventRow {
  type: string
  entityType: string
  entityId: string
  entityVersion: number
  actorId: string | null
  payload: Record<string, unknown>
}

/** The journal of a tenant in its order, held back by no other transaction. */
export async function eventsOf(db: Database, ctx: Ctx): Promise<EventRow[]> {
  return await db<EventRow[]>`
    select type, entity_type, entity_id, entity_version, actor_id, payload
    from events
    where tenant_id = ${ctx.tenantId}
    order by journal_epoch, tx_id, sequence`
}
