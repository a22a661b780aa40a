import type { Database, Sql } from '#db/sql.ts'
import { waitFor } from './wait.ts'

/**
 * Resolves when `count` transactions wait for what the open transaction `holder` has locked, directly
 * or behind one that does. With it a test says which of two commands comes first.
 */
export async function waitForWaiters(db: Database, holder: Sql, count: number): Promise<void> {
  const [{ pid }] = await holder<[{ pid: number }]>`select pg_backend_pid() as pid`
  await waitFor(async () => {
    const waiting = await db`
      with recursive waiting as (
        select ${pid}::int as pid
        union
        select activity.pid
        from pg_stat_activity activity
        join waiting on waiting.pid = any(pg_blocking_pids(activity.pid)))
      select pid
      from waiting
      where pid <> ${pid}`
    return waiting.length === count
  })
}
