import type { Sql } from '#db/sql.ts'
import type { Reader } from './reader.ts'
import { readable } from './reader.sql.ts'

export interface RecentRow {
  item: string
  occurredAt: Date
}

/**
 * The newest of what somebody stated, newest first. Lifecycle events are read apart, so that a busy task
 * does not hide what was decided. Needs `observations_stated`.
 */
export async function selectStated(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  limit: number,
): Promise<RecentRow[]> {
  return await sql<RecentRow[]>`
    select item, occurred_at
    from observations
    where namespace_id = ${namespaceId}
      and kind !~ '^(task|run|claim|session)[.]'
      and content <> ''
      and status <> 'redacted'
      and ${readable(sql, reader, 'occurred_at')}
    order by occurred_at desc, ingested_at desc
    limit ${limit}`
}

/**
 * The newest lifecycle events, newest first: of the given tasks, or of any when none is given. Needs
 * `observations_by_session` and `observations_lifecycle`.
 */
export async function selectLifecycle(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  ask: { tasks: readonly string[]; limit: number },
): Promise<RecentRow[]> {
  const ofTasks =
    ask.tasks.length === 0 ? sql`` : sql`and session_key = any(${[...ask.tasks]}::text[])`
  return await sql<RecentRow[]>`
    select item, occurred_at
    from observations
    where namespace_id = ${namespaceId}
      and kind ~ '^(task|run|claim|session)[.]'
      ${ofTasks}
      and content <> ''
      and status <> 'redacted'
      and ${readable(sql, reader, 'occurred_at')}
    order by occurred_at desc, ingested_at desc
    limit ${ask.limit}`
}
