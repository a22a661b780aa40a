import type { Sql } from '#db/sql.ts'

/**
 * How many sessions and claims have a lease that is not over, of every tenant_id of the database. Uses
 * sessions_active and claims_by_session.
 */
export async function countLiveLeases(sql: Sql): Promise<{ sessions: number; claims: number }> {
  const [row] = await sql<{ sessions: number; claims: number }[]>`
    select
      (select count(*)::int
       from sessions
       where status = 'active'
         and expires_at > clock_timestamp()) as sessions,
      (select count(*)::int
       from claims
       where status = 'active'
         and expires_at > clock_timestamp()) as claims
    /* of every tenant_id */`
  return row ?? { sessions: 0, claims: 0 }
}
