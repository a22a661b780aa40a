import type { Sql } from '#db/sql.ts'
import type { Reader } from './reader.ts'
import { readable } from './reader.sql.ts'

export interface RecentRow {
  item: string
  occurredAt: Date
}

export interface RecentQuery {
  reader: Reader
  /** Only what was said of these tasks; of anything when empty. */
  tasks: readonly string[]
  limit: number
}

/**
 * The newest of what somebody stated, newest first. Lifecycle events are read apart, so that a busy task
 * does not hide what was decided. Needs `observations_stated`, or `observations_by_session` for tasks.
 */
export async function selectStated(
  sql: Sql,
  namespaceId: string,
  { reader, tasks, limit }: RecentQuery,
): Promise<RecentRow[]> {
  return await sql<RecentRow[]>`
    select item, occurred_at
    from observations
    where namespace_id = ${namespaceId}
      and kind !~ '^(task|run|claim|session)[.]'
      and ${ofTasks(sql, tasks)}
      and content <> ''
      and status <> 'redacted'
      and ${readable(sql, reader, 'occurred_at')}
    order by occurred_at desc, ingested_at desc
    limit ${limit}`
}

/** The newest lifecycle events, newest first. Needs `observations_lifecycle` for the same. */
export async function selectLifecycle(
  sql: Sql,
  namespaceId: string,
  { reader, tasks, limit }: RecentQuery,
): Promise<RecentRow[]> {
  return await sql<RecentRow[]>`
    select item, occurred_at
    from observations
    where namespace_id = ${namespaceId}
      and kind ~ '^(task|run|claim|session)[.]'
      and ${ofTasks(sql, tasks)}
      and content <> ''
      and status <> 'redacted'
      and ${readable(sql, reader, 'occurred_at')}
    order by occurred_at desc, ingested_at desc
    limit ${limit}`
}

function ofTasks(sql: Sql, tasks: readonly string[]) {
  return tasks.length === 0 ? sql`true` : sql`session_key = any(${[...tasks]}::text[])`
}
