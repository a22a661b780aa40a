import type { Sql } from '#db/sql.ts'
import { ORIGIN } from './cursor.ts'
import type { Position } from './cursor.ts'
import { isStable } from './horizon.ts'

/** The consumer that replays the journal into memory. */
export const CONTEXT_ADAPTER = 'context-adapter'

export type ConsumerStatus = 'ok' | 'retrying' | 'parked' | 'paused'

/** Counters and last instants of one tenant's deliveries. */
export interface ConsumerMetadata {
  deliveredTotal?: number
  duplicatesTotal?: number
  failuresTotal?: number
  redrivesTotal?: number
  rebuildsTotal?: number
  staleCommitsTotal?: number
  lastError?: string | null
  lastErrorAt?: string | null
  lastDeliveryAt?: string | null
}

/** Where a consumer stands in one tenant's journal, and why it does not move if it does not. */
export interface ConsumerRow {
  position: Position
  status: ConsumerStatus
  failureCount: number
  nextAttemptAt: Date | null
  reason: string | null
  parkedAt: Date | null
  parkedEventId: string | null
  metadata: ConsumerMetadata
  updatedAt: Date
}

/** The row of a tenant, or undefined before the consumer's first cycle. */
export async function selectConsumer(
  sql: Sql,
  name: string,
  tenantId: string,
): Promise<ConsumerRow | undefined> {
  const [row] = await sql<StoredRow[]>`
    select ${columns(sql)}
    from ${consumersWithPause(sql)}
    where c.tenant_id = ${tenantId}
      and c.name = ${name}`
  return row && toRow(row)
}

/** Every consumer that has a place in a tenant's journal. */
export async function selectConsumers(
  sql: Sql,
  tenantId: string,
): Promise<(ConsumerRow & { name: string })[]> {
  const rows = await sql<(StoredRow & { name: string })[]>`
    select ${columns(sql)}, c.name
    from ${consumersWithPause(sql)}
    where c.tenant_id = ${tenantId}
    order by c.name`
  return rows.map((row) => ({ ...toRow(row), name: row.name }))
}

type StoredRow = Omit<ConsumerRow, 'position'> & Position

function toRow({ journalEpoch, txId, sequence, ...rest }: StoredRow): ConsumerRow {
  return { position: { journalEpoch, txId, sequence }, ...rest }
}

/** The same, and whoever wants to move the cursor waits until the transaction ends. */
export async function lockConsumerRow(
  sql: Sql,
  name: string,
  tenantId: string,
): Promise<ConsumerRow | undefined> {
  await sql`
    select 1
    from event_consumer_cursors
    where tenant_id = ${tenantId}
      and name = ${name}
    for update`
  return await selectConsumer(sql, name, tenantId)
}

function columns(sql: Sql) {
  return sql`c.journal_epoch, c.tx_id::text as tx_id, c.sequence,
           case when l.paused_until > now() or l.pause_reason is not null then 'paused'
                else c.status end as status,
           c.failure_count, c.next_attempt_at, coalesce(l.pause_reason, c.reason) as reason,
           c.parked_at, c.parked_event_id, c.metadata, c.updated_at`
}

function consumersWithPause(sql: Sql) {
  return sql`event_consumer_cursors c
    left join lateral (
      select max(paused_until) as paused_until, max(pause_reason) as pause_reason
      from event_consumer_leaders
      where name = c.name and paused_until is not null) l on true`
}

/** Gives every tenant a row at the origin of its journal, or at the oldest event that was kept. */
export async function insertMissingConsumers(sql: Sql, name: string): Promise<void> {
  await sql`
    insert into event_consumer_cursors (name, tenant_id, journal_epoch, tx_id, sequence)
    select ${name}, t.tenant_id, coalesce(f.pruned_epoch, 0), coalesce(f.pruned_tx_id, '0'),
           coalesce(f.pruned_sequence, 0)
    from tenants t
    left join journal_floors f on f.tenant_id = t.tenant_id
    where not exists (
      select 1 from event_consumer_cursors c
      where c.name = ${name} and c.tenant_id = t.tenant_id)
    on conflict (name, tenant_id) do nothing`
}

/**
 * Tenants with a stable event after their cursor whose turn it is, the longest unserved first. One
 * index probe per tenant.
 */
export async function selectDueTenants(
  sql: Sql,
  name: string,
  limit: number,
): Promise<{ tenantId: string; position: Position; failureCount: number }[]> {
  const rows = await sql<(Position & { tenantId: string; failureCount: number })[]>`
    select c.tenant_id, c.journal_epoch, c.tx_id::text as tx_id, c.sequence, c.failure_count
    from event_consumer_cursors c
    where c.name = ${name}
      and (c.next_attempt_at is null or c.next_attempt_at <= now())
      and exists (
        select 1
        from journal e
        where e.tenant_id = c.tenant_id
          and (e.journal_epoch, e.tx_id, e.sequence) > (c.journal_epoch, c.tx_id, c.sequence)
          and ${isStable(sql)})
    order by c.last_served_at nulls first, c.tenant_id
    limit ${limit}`
  return rows.map(({ tenantId, failureCount, ...position }) => ({
    tenantId,
    failureCount,
    position,
  }))
}

/** What makes a write of a consumer's row valid: this leader's epoch, and the place it started from. */
export interface Fence {
  name: string
  shard: number
  leaderEpoch: string
  tenantId: string
  from: Position
}

export interface Delivery {
  to: Position
  delivered: number
  duplicates: number
}

/**
 * Moves the cursor over what memory has confirmed. Answers false, and moves nothing, when another
 * leader has taken over or an operator moved the cursor meanwhile: safety rests on this condition,
 * not on the leader's lock.
 */
export async function commitDelivery(sql: Sql, fence: Fence, done: Delivery): Promise<boolean> {
  const { to, delivered, duplicates } = done
  const rows = await sql`
    update event_consumer_cursors c
    set journal_epoch = ${to.journalEpoch}, tx_id = ${to.txId}::xid8, sequence = ${to.sequence},
        status = 'ok', failure_count = 0, next_attempt_at = null, reason = null,
        parked_at = null, parked_event_id = null, last_served_at = now(), updated_at = now(),
        metadata = c.metadata
          || jsonb_build_object(
               'deliveredTotal',
               coalesce((c.metadata ->> 'deliveredTotal')::bigint, 0) + ${delivered}::int,
               'duplicatesTotal',
               coalesce((c.metadata ->> 'duplicatesTotal')::bigint, 0) + ${duplicates}::int)
          || case when ${delivered}::int = 0 then '{}'::jsonb
             else jsonb_build_object('lastDeliveryAt', ${isoNow(sql)}) end
    from event_consumer_leaders l
    where c.tenant_id = ${fence.tenantId}
      and ${holds(sql, fence)}
    returning c.tenant_id`
  return rows.length > 0
}

export interface Failure {
  status: 'retrying' | 'parked'
  reason: string
  eventId: string | null
  /** Wait before the same position is tried again. */
  delaySeconds: number
}

/** Notes a failed delivery; the cursor stays. Fenced like a commit. */
export async function recordFailure(sql: Sql, fence: Fence, failure: Failure): Promise<void> {
  const { status, eventId, delaySeconds } = failure
  const reason = failure.reason.slice(0, 2000)
  await sql`
    update event_consumer_cursors c
    set status = ${status}, failure_count = c.failure_count + 1, reason = ${reason},
        next_attempt_at = now() + make_interval(secs => ${delaySeconds}),
        parked_at = case when ${status} = 'parked' then coalesce(c.parked_at, now()) end,
        parked_event_id = ${status === 'parked' ? eventId : null},
        last_served_at = now(), updated_at = now(),
        metadata = c.metadata || jsonb_build_object(
          'failuresTotal', coalesce((c.metadata ->> 'failuresTotal')::bigint, 0) + 1,
          'lastError', ${reason}::text,
          'lastErrorAt', ${isoNow(sql)})
    from event_consumer_leaders l
    where c.tenant_id = ${fence.tenantId}
      and ${holds(sql, fence)}`
}

/** Counts a commit that was refused because the cursor had moved under it. */
export async function countStaleCommit(sql: Sql, name: string, tenantId: string): Promise<void> {
  await sql`
    update event_consumer_cursors
    set metadata = metadata || jsonb_build_object(
      'staleCommitsTotal', coalesce((metadata ->> 'staleCommitsTotal')::bigint, 0) + 1)
    where tenant_id = ${tenantId}
      and name = ${name}`
}

/** Tries the same position again at once; the cursor does not move. */
export async function clearFailure(sql: Sql, name: string, tenantId: string): Promise<void> {
  await sql`
    update event_consumer_cursors
    set status = 'ok', failure_count = 0, next_attempt_at = null, reason = null, parked_at = null,
        parked_event_id = null, updated_at = now(),
        metadata = metadata || jsonb_build_object(
          'redrivesTotal', coalesce((metadata ->> 'redrivesTotal')::bigint, 0) + 1,
          'lastRedriveAt', ${isoNow(sql)})
    where tenant_id = ${tenantId}
      and name = ${name}`
}

/** Sends the cursor back, for a replay; a delivery under way then finds that it has moved. */
export async function rewindConsumer(
  sql: Sql,
  name: string,
  { tenantId, to = ORIGIN }: { tenantId: string; to?: Position },
): Promise<void> {
  await sql`
    update event_consumer_cursors
    set journal_epoch = ${to.journalEpoch}, tx_id = ${to.txId}::xid8, sequence = ${to.sequence},
        status = 'ok', failure_count = 0, next_attempt_at = null, reason = null, parked_at = null,
        parked_event_id = null, updated_at = now(),
        metadata = metadata || jsonb_build_object(
          'rebuildsTotal', coalesce((metadata ->> 'rebuildsTotal')::bigint, 0) + 1,
          'lastRebuildAt', ${isoNow(sql)})
    where tenant_id = ${tenantId}
      and name = ${name}`
}

/** Refuses or allows the whole consumer to work: one bad credential must not park every tenant. */
export async function pauseConsumer(
  sql: Sql,
  leader: { name: string; shard: number; leaderEpoch: string },
  pause: { reason: string; seconds: number } | null,
): Promise<void> {
  await sql`
    update event_consumer_leaders
    set pause_reason = ${pause?.reason.slice(0, 2000) ?? null}, updated_at = now(),
        paused_until = ${pause ? sql`now() + make_interval(secs => ${pause.seconds})` : null}
    where name = ${leader.name}
      and shard = ${leader.shard}
      and leader_epoch = ${leader.leaderEpoch}`
}

/** The condition of a fenced write on cursor row `c` and leader row `l`. */
function holds(sql: Sql, { name, shard, leaderEpoch, from }: Fence) {
  return sql`c.name = ${name}
    and (c.journal_epoch, c.tx_id, c.sequence)
      = (${from.journalEpoch}, ${from.txId}::xid8, ${from.sequence}::bigint)
    and l.name = c.name
    and l.shard = ${shard}
    and l.leader_epoch = ${leaderEpoch}`
}

function isoNow(sql: Sql) {
  return sql`to_char(clock_timestamp() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
}
