import { setTimeout as sleep } from 'node:timers/promises'
import { transaction } from '#db/sql.ts'
import type { Database, Sql } from '#db/sql.ts'
import { StartError } from '#lib/start-error.ts'

/** Any constant works; every process of this product must use the same. */
const GUARD_LOCK = 0x00c0_047f

export interface JournalHealth {
  journalEpoch: number
  /** True when this start found a restored journal and opened a new epoch. */
  epochBumped: boolean
}

/**
 * Detects, before the first write, that the journal was restored into a cluster whose transaction ids
 * start lower: stored events would look unstable for ever and new ones would sort before old ones.
 * When nobody else is connected a new journal epoch begins, which orders all new events after the old;
 * otherwise the start is refused with the remedy. Call it while the pool has no second connection.
 */
export async function guardJournal(db: Database): Promise<JournalHealth> {
  return await transaction(db, 'read write', guard)
}

async function guard(sql: Sql): Promise<JournalHealth> {
  await sql`select pg_advisory_xact_lock(${GUARD_LOCK})`
  const identifier = await clusterIdentifier(sql)
  const [state] = await sql<{ journalEpoch: number; ahead: boolean; moved: boolean | null }[]>`
    select j.journal_epoch,
           coalesce((select max(e.tx_id::text::numeric) from (
             select distinct on (t.tenant_id) e.tx_id
             from tenants t
             join lateral (
               select tx_id from journal
               where tenant_id = t.tenant_id and journal_epoch = j.journal_epoch
               order by tx_id desc limit 1) e on true) e), 0)
             >= pg_snapshot_xmax(pg_current_snapshot())::text::numeric as ahead,
           j.system_identifier <> ${identifier} as moved
    from journal_state j`
  if (!state) throw new StartError('Cannot start: the journal has no state row; run the migrations')
  if (state.ahead || state.moved) return await bumpEpoch(sql, identifier)
  await sql`
    update journal_state set system_identifier = ${identifier}
    where system_identifier is null`
  return { journalEpoch: state.journalEpoch, epochBumped: false }
}

/** Where the journal of a running process stands. */
export interface JournalState {
  journalEpoch: number
  /** The stored identity of the cluster is not the server's: the journal was restored elsewhere. */
  hasMoved: boolean
  /** The next transaction id of the server; it never goes back but by a restore. */
  nextTxId: bigint
}

/** What tells a process that runs already that its journal was restored; changes nothing. */
export async function selectJournalState(sql: Sql): Promise<JournalState | undefined> {
  const identifier = await clusterIdentifier(sql)
  const [row] = await sql<{ journalEpoch: number; hasMoved: boolean; nextTxId: string }[]>`
    select journal_epoch, coalesce(system_identifier <> ${identifier}, false) as has_moved,
           pg_snapshot_xmax(pg_current_snapshot())::text as next_tx_id
    from journal_state`
  return row && { ...row, nextTxId: BigInt(row.nextTxId) }
}

/** What tells one cluster from another; null where the role may not ask. */
async function clusterIdentifier(sql: Sql): Promise<string | null> {
  const [may] = await sql<{ allowed: boolean }[]>`
    select has_function_privilege('pg_control_system()', 'execute') as allowed`
  if (!may?.allowed) return null
  const [row] = await sql<{ id: string }[]>`
    select system_identifier::text as id from pg_control_system()`
  return row?.id ?? null
}

async function bumpEpoch(sql: Sql, systemIdentifier: string | null): Promise<JournalHealth> {
  const others = await countOthers(sql)
  if (others > 0) {
    throw new StartError(
      `Cannot start: the journal was restored into another database cluster and ${others} ` +
        'other connections are open; stop every other process, then start one to begin a new ' +
        'journal epoch (or restore a physical backup)',
    )
  }
  const [row] = await sql<{ journalEpoch: number }[]>`
    update journal_state
    set journal_epoch = journal_epoch + 1, system_identifier = ${systemIdentifier},
        updated_at = now()
    returning journal_epoch`
  return { journalEpoch: row?.journalEpoch ?? 1, epochBumped: true }
}

/** A session that was closed a moment ago may still be listed. */
const PATIENCE_MS = 2000
const POLL_MS = 100

/** Sessions on this database beside our own, once those that are just ending have gone. */
async function countOthers(sql: Sql): Promise<number> {
  const end = Date.now() + PATIENCE_MS
  for (;;) {
    // Within a transaction the list is taken once.
    await sql`select pg_stat_clear_snapshot()`
    // What kind of process another role's session is, only some roles may see; all may see its user.
    const others = await sql`
      select pid
      from pg_stat_activity
      where datname = current_database()
        and usesysid is not null
        and coalesce(backend_type, 'client backend') = 'client backend'
        and pid <> pg_backend_pid()`
    if (others.length === 0 || Date.now() > end) return others.length
    await sleep(POLL_MS)
  }
}
