import type { Database, Sql } from '#db/sql.ts'
import { appendEvents, tryLockEntity } from '#events/append.ts'
import type { Notify } from '#lib/appended.ts'
import type { Author } from '#lib/ctx.ts'
import { reapEach, requireReaped } from '#work/reap-each.ts'
import { callOff, loseLease } from './invocation-events.ts'
import { withdrawal } from './invocation.ts'
import { selectInvocation, selectOverdueInvocations } from './invocation.sql.ts'
import { invocationEntity } from './lock-invocation.ts'

/**
 * Ends attempts whose leases are over and calls that wait for nobody any more, up to `limit` of each, in all
 * tenants, each in a transaction of its own; see `reapEach`. Answers how many there were.
 */
export async function reapInvocations(
  db: Database,
  limit: number,
  notify: Notify = () => {},
): Promise<number> {
  const overdue = await selectOverdueInvocations(db, limit)
  const reaping = await reapEach(db, notify, overdue, (sql, author, { id }) =>
    reap(sql, author, id),
  )
  requireReaped([reaping])
  return reaping.reaped
}

async function reap(sql: Sql, author: Author, id: string): Promise<void> {
  if (!(await tryLockEntity(sql, author, invocationEntity(id)))) return
  const call = await selectInvocation(sql, author, id)
  if (call?.status === 'running' && call.isLeaseOver) {
    await appendEvents(sql, author, await loseLease(sql, author, call))
  } else if (call?.status === 'pending') {
    const reason = withdrawal(call)
    if (!reason) return
    await appendEvents(sql, author, await callOff(sql, author, call, { reason, said: null }))
  }
}
