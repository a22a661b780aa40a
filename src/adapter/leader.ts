import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '#db/sql.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import type { Log } from '#lib/log.ts'

/** First key of the advisory locks of the adapter's leaders; the second is the shard. */
const LOCK_CLASS = 0x00c0_047e
const PROBE_TIMEOUT_MS = 2000

export interface Leader extends AsyncDisposable {
  readonly name: string
  readonly shard: number
  /** Grows with every change of leader; every cursor commit is conditional on it. */
  readonly leaderEpoch: string
  /** False once this process is no longer known to lead; it must then stop at once. */
  isLeading: () => Promise<boolean>
}

export interface Candidate {
  address: DatabaseAddress
  name: string
  shard: number
  shards: number
  log: Log
}

/**
 * Tries once to become the leader of a consumer's shard: a session-level advisory lock on a connection
 * of its own, then a new leader epoch. Undefined when another process leads. The lock saves work; what
 * keeps two leaders from harm is the epoch in every commit.
 */
export async function campaign(candidate: Candidate): Promise<Leader | undefined> {
  const { address, name, shard, shards } = candidate
  const appName = `strata-adapter-${shard}`
  const db = connect(address, { maxConnections: 1, appName, lasting: true })
  try {
    const [lock] = await db<{ gained: boolean }[]>`
      select pg_try_advisory_lock(${LOCK_CLASS}::int, ${shard}::int) as gained`
    if (!lock?.gained) {
      await close(db)
      return undefined
    }
    const [row] = await db<{ leaderEpoch: string }[]>`
      insert into event_consumer_leaders (name, shard, shards, leader_epoch)
      values (${name}, ${shard}, ${shards}, 1)
      on conflict (name, shard) do update
      set leader_epoch = event_consumer_leaders.leader_epoch + 1, updated_at = now()
      returning leader_epoch`
    const leaderEpoch = row?.leaderEpoch ?? '0'
    return {
      name,
      shard,
      leaderEpoch,
      isLeading: async () => await probe(db, { name, shard, leaderEpoch }),
      [Symbol.asyncDispose]: async () => await close(db),
    }
  } catch (error) {
    await close(db)
    throw error
  }
}

/**
 * Asks the lock table, because a live connection alone does not prove that the lock is still held: it may
 * be another one, which the pool has made since.
 */
async function probe(
  db: Database,
  { name, shard, leaderEpoch }: Pick<Leader, 'name' | 'shard' | 'leaderEpoch'>,
): Promise<boolean> {
  const answer = db<{ leading: boolean }[]>`
    select exists (
             select 1 from pg_locks
             where locktype = 'advisory' and pid = pg_backend_pid() and granted
               and classid::bigint = ${LOCK_CLASS} and objid::bigint = ${shard})
       and exists (
             select 1 from event_consumer_leaders
             where name = ${name} and shard = ${shard} and leader_epoch = ${leaderEpoch})
       and not pg_is_in_recovery() as leading`.then(
    ([row]) => row?.leading === true,
    () => false,
  )
  const timeout = new AbortController()
  const late = sleep(PROBE_TIMEOUT_MS, false, { signal: timeout.signal }).catch(() => false)
  return await Promise.race([answer, late]).finally(() => timeout.abort())
}

/** Ends the connection without waiting for it: the server may grant or answer later. */
async function close(db: Database): Promise<void> {
  await db.end({ timeout: 0 }).catch(() => {})
}
