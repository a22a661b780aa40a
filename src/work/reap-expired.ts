import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import { appendEvents, tryLockEntity } from '#events/append.ts'
import { collectAppended } from '#lib/appended.ts'
import type { Notify } from '#lib/appended.ts'
import type { Author } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import { selectActiveClaim, selectOverdueClaims } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { endSession } from './end-session.ts'
import { taskEntity } from './lock-task.ts'
import { selectOverdueSessions, selectSession } from './session.sql.ts'

export interface Reaped {
  claims: number
  sessions: number
}

/**
 * Records the end of up to `limit` claims and `limit` sessions whose leases are over, in all tenants,
 * each in a transaction of its own. An accelerator only: whoever claims such a task does the same by
 * the same function. What somebody is working on at the moment is skipped; any number of processes may
 * reap at once, and a failure stops none of the others: it is thrown at the end. `notify` is told the tenants whose journals grew, after the commit.
 */
export async function reapExpired(
  db: Database,
  limit: number,
  notify: Notify = () => {},
): Promise<Reaped> {
  const errors: unknown[] = []
  const attempt: Attempt = async (tenantId, reap) =>
    await once(db, tenantId, notify, reap).catch((error: unknown) => {
      errors.push(error)
      return false
    })
  const reaped = { claims: 0, sessions: 0 }
  for (const { tenantId, taskId } of await selectOverdueClaims(db, limit)) {
    if (await attempt(tenantId, (sql, author) => reapClaim(sql, author, taskId))) reaped.claims += 1
  }
  for (const { tenantId, id } of await selectOverdueSessions(db, limit)) {
    if (await attempt(tenantId, (sql, author) => reapSession(sql, author, id))) reaped.sessions += 1
  }
  if (errors.length > 0) throw new AggregateError(errors, 'Cannot reap every lease that is over')
  return reaped
}

type Reap = (sql: Sql, author: Author) => Promise<void>
type Attempt = (tenantId: string, reap: Reap) => Promise<boolean>

async function once(db: Database, tenantId: string, notify: Notify, reap: Reap): Promise<boolean> {
  const appended = collectAppended()
  const author: Author = {
    tenantId,
    actorId: null,
    requestId: null,
    correlationId: newId(),
    traceRunId: null,
    wake: appended.wake,
  }
  await transaction(db, 'read write', (sql) => reap(sql, author))
  appended.announce(notify, tenantId)
  return !appended.isEmpty()
}

async function reapClaim(sql: Sql, author: Author, taskId: string): Promise<void> {
  if (!(await tryLockEntity(sql, author, taskEntity(taskId)))) return
  const claim = await selectActiveClaim(sql, author, taskId)
  if (!claim || claim.isLive) return
  const end = { status: 'expired', reason: 'lease_expired', releaseTask: true } as const
  await appendEvents(sql, author, await endClaim(sql, author, claim, end))
}

async function reapSession(sql: Sql, author: Author, id: string): Promise<void> {
  if (!(await tryLockEntity(sql, author, { type: 'session', id }))) return
  const session = await selectSession(sql, author, id)
  if (session?.status !== 'active' || session.isLive) return
  await endSession(sql, author, id, 'expired')
}
