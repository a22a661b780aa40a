import type { Sql } from '#db/sql.ts'
import type { Position } from './cursor.ts'
import { isStable } from './horizon.ts'

/** A consumer's row while this process serves it. */
export interface Lease {
  name: string
  tenantId: string
  /** Grows with every lease; every write is conditional on it. */
  token: string
  position: Position
  /** Attempts that failed in a row at this position. */
  failureCount: number
}

/** Gives a consumer a place; it is served from the next turn on. */
export async function insertLeasedConsumer(
  sql: Sql,
  consumer: { name: string; tenantId: string; position: Position },
): Promise<void> {
  const { name, tenantId, position } = consumer
  const { journalEpoch, txId, sequence } = position
  await sql`
    insert into event_consumer_cursors (name, tenant_id, journal_epoch, tx_id, sequence)
    values (${name}, ${tenantId}, ${journalEpoch}, ${txId}::xid8, ${sequence}::bigint)`
}

/**
 * Leases consumers whose names begin with the prefix and whose turn it is, the longest unserved first: a
 * stable event stands behind their place, or a turn is wanted. A row that another worker is leasing at
 * this moment is left to it. One index probe per consumer; leases go by the clock of the database.
 */
export async function leaseDueConsumers(
  sql: Sql,
  wish: { prefix: string; limit: number; seconds: number },
): Promise<Lease[]> {
  const { prefix, limit, seconds } = wish
  const rows = await sql<(Position & Omit<Lease, 'position'>)[]>`
    with due as (
      select c.name, c.tenant_id
      from event_consumer_cursors c
      where starts_with(c.name, ${prefix})
        and c.status in ('ok', 'retrying')
        and (c.leased_until is null or c.leased_until <= clock_timestamp())
        and (c.next_attempt_at is null or c.next_attempt_at <= clock_timestamp())
        and (c.wanted_at is not null or exists (
          select 1
          from journal e
          where e.tenant_id = c.tenant_id
            and (e.journal_epoch, e.tx_id, e.sequence) > (c.journal_epoch, c.tx_id, c.sequence)
            and ${isStable(sql)}))
      order by c.last_served_at nulls first, c.tenant_id, c.name
      limit ${limit}
      for update skip locked)
    update event_consumer_cursors c
    set lease_token = c.lease_token + 1, leased_until = ${until(sql, seconds)},
        wanted_at = null, last_served_at = clock_timestamp()
    from due
    where c.tenant_id = due.tenant_id
      and c.name = due.name
    returning c.name, c.tenant_id, c.lease_token as token, c.failure_count,
              c.journal_epoch, c.tx_id::text as tx_id, c.sequence`
  return rows.map(({ journalEpoch, txId, sequence, ...rest }) => ({
    ...rest,
    position: { journalEpoch, txId, sequence },
  }))
}

/** Moves the place over what has been done, and lengthens the lease. False, and nothing, when it is lost. */
export async function commitLeased(
  sql: Sql,
  lease: Lease,
  { to, seconds }: { to: Position; seconds: number },
): Promise<boolean> {
  const rows = await sql`
    update event_consumer_cursors c
    set journal_epoch = ${to.journalEpoch}, tx_id = ${to.txId}::xid8, sequence = ${to.sequence},
        status = 'ok', failure_count = 0, next_attempt_at = null, reason = null,
        leased_until = ${until(sql, seconds)}, updated_at = now()
    where ${isHeld(sql, lease)}
    returning 1`
  return rows.length > 0
}

/** Lengthens the lease. False when it is lost. */
export async function keepLease(sql: Sql, lease: Lease, seconds: number): Promise<boolean> {
  const rows = await sql`
    update event_consumer_cursors c
    set leased_until = ${until(sql, seconds)}
    where ${isHeld(sql, lease)}
    returning 1`
  return rows.length > 0
}

/** Notes a failed attempt and gives the lease back; the same place is tried again after the delay. */
export async function failLeased(
  sql: Sql,
  lease: Lease,
  { reason, delaySeconds }: { reason: string; delaySeconds: number },
): Promise<boolean> {
  const rows = await sql`
    update event_consumer_cursors c
    set status = 'retrying', failure_count = c.failure_count + 1, reason = ${reason.slice(0, 2000)},
        next_attempt_at = clock_timestamp() + make_interval(secs => ${delaySeconds}),
        leased_until = null, updated_at = now()
    where ${isHeld(sql, lease)}
    returning 1`
  return rows.length > 0
}

/** Gives the lease back, so that another turn need not wait for its end. */
export async function releaseLease(sql: Sql, lease: Lease): Promise<void> {
  await sql`
    update event_consumer_cursors c
    set leased_until = null
    where ${isHeld(sql, lease)}`
}

/** Asks for a turn as soon as there is one, whatever failed before. */
export async function wantTurn(sql: Sql, name: string, tenantId: string): Promise<void> {
  await sql`
    update event_consumer_cursors
    set wanted_at = clock_timestamp(), next_attempt_at = null
    where tenant_id = ${tenantId}
      and name = ${name}`
}

/**
 * Serves the consumer no more until it is resumed: whoever holds its lease can write nothing from the
 * commit on. What it has not read may leave the journal meanwhile.
 */
export async function pauseLeased(
  sql: Sql,
  name: string,
  { tenantId, reason }: { tenantId: string; reason: string },
): Promise<void> {
  await sql`
    update event_consumer_cursors
    set status = 'paused', reason = ${reason}, holds_journal = false, lease_token = lease_token + 1,
        leased_until = null, updated_at = now()
    where tenant_id = ${tenantId}
      and name = ${name}`
}

/** Serves the consumer again, from another place if one is given, with its failures forgotten. */
export async function resumeLeased(
  sql: Sql,
  name: string,
  { tenantId, position }: { tenantId: string; position: Position },
): Promise<void> {
  const { journalEpoch, txId, sequence } = position
  await sql`
    update event_consumer_cursors
    set status = 'ok', failure_count = 0, next_attempt_at = null, reason = null, holds_journal = true,
        lease_token = lease_token + 1, leased_until = null, updated_at = now(),
        journal_epoch = ${journalEpoch}, tx_id = ${txId}::xid8, sequence = ${sequence}::bigint
    where tenant_id = ${tenantId}
      and name = ${name}`
}

export async function deleteConsumer(sql: Sql, name: string, tenantId: string): Promise<void> {
  await sql`
    delete from event_consumer_cursors
    where tenant_id = ${tenantId}
      and name = ${name}`
}

/** The condition of a write on cursor row `c`: the lease is still this one's. */
function isHeld(sql: Sql, { name, tenantId, token }: Lease) {
  return sql`c.tenant_id = ${tenantId}
    and c.name = ${name}
    and c.lease_token = ${token}
    and c.leased_until > clock_timestamp()`
}

function until(sql: Sql, seconds: number) {
  return sql`clock_timestamp() + make_interval(secs => ${seconds})`
}
