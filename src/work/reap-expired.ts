import type { Database, Sql } from '#db/sql.ts'
import { appendEvents, tryLockEntity } from '#events/append.ts'
import type { Notify } from '#lib/appended.ts'
import type { Author } from '#lib/ctx.ts'
import { selectActiveClaim, selectOverdueClaims } from './claim.sql.ts'
import { endClaim } from './end-claim.ts'
import { endSession } from './end-session.ts'
import { taskEntity } from './lock-task.ts'
import { reapEach, requireReaped } from './reap-each.ts'
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
  const overdueClaims = await selectOverdueClaims(db, limit)
  const claims = await reapEach(db, notify, overdueClaims, (sql, author, { taskId }) =>
    reapClaim(sql, author, taskId),
  )
  const overdueSessions = await selectOverdueSessions(db, limit)
  const sessions = await reapEach(db, notify, overdueSessions, (sql, author, { id }) =>
    reapSession(sql, author, id),
  )
  requireReaped([claims, sessions])
  return { claims: claims.reaped, sessions: sessions.reaped }
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
