import type { Sql } from '#db/sql.ts'
import type { Position } from './cursor.ts'

/**
 * The condition on a row `e` of the journal that no transaction still running can precede it. As one
 * comparison of rows it bounds the scan of the primary key, whatever the planner knows of the table.
 */
export function isStable(sql: Sql) {
  return sql`(e.journal_epoch, e.tx_id)
    < ((select journal_epoch from journal_state), pg_snapshot_xmin(pg_current_snapshot()))`
}

/** Its opposite: a committed row that readers are not shown yet. */
export function isHeldBack(sql: Sql) {
  return sql`(e.journal_epoch, e.tx_id)
    >= ((select journal_epoch from journal_state), pg_snapshot_xmin(pg_current_snapshot()))`
}

/**
 * A place to compare rows `(journal_epoch, tx_id, sequence)` with. The planner judges such a comparison by its
 * first column alone, and the epoch is the same in nearly every row: if it saw the value, it would take what
 * stands after a place for next to nothing, and read and sort all of it for one page.
 */
export function rowAt(sql: Sql, { journalEpoch, txId, sequence }: Position) {
  return sql`((select ${journalEpoch}::int), ${txId}::xid8, ${sequence}::bigint)`
}

/** The open transaction that holds back every reader of every journal on the database server. */
export interface Blocker {
  kind: 'session' | 'prepared_transaction'
  /** Null for a prepared transaction. */
  pid: number | null
  database: string | null
  applicationName: string | null
  state: string | null
  /** Since it began; null where the role may not see it. */
  ageSeconds: number | null
}

/**
 * The oldest writing transaction on the server other than our own, whatever database it writes to:
 * transaction ids are the server's. Undefined when nobody writes.
 */
export async function selectBlocker(sql: Sql): Promise<Blocker | undefined> {
  const [row] = await sql<Blocker[]>`
    select kind, pid, database, application_name, state,
           extract(epoch from clock_timestamp() - began_at)::float8 as age_seconds
    from (
      select 'session' as kind, pid, datname as database, application_name, state,
             xact_start as began_at, backend_xid as xid
      from pg_stat_activity
      where backend_xid is not null
        and pid <> pg_backend_pid()
      union all
      select 'prepared_transaction', null, database, gid, 'prepared', prepared, transaction
      from pg_prepared_xacts) as writers
    order by age(xid) desc
    limit 1`
  return row
}

/** The epoch that new events are written in. */
export async function selectJournalEpoch(sql: Sql): Promise<number> {
  const [row] = await sql<{ journalEpoch: number }[]>`
    select journal_epoch
    from journal_state`
  return row?.journalEpoch ?? 1
}
