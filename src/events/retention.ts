import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'
import type { Position } from './cursor.ts'
import { raiseFloor } from './floors.ts'
import { isStable, rowAt } from './horizon.ts'

type Tenant = Pick<Ctx, 'tenantId'>

/** Why a move ends where it ends; `done` when nothing is left that it could have taken. */
export type Limit = 'max_events' | 'consumer' | 'age' | 'open_transaction' | 'done'

export interface Bounds {
  /** Nothing after this place is touched; null when nobody's place is to be kept. */
  consumer: Position | null
  minAgeSeconds: number
  maxEvents: number
}

/** How far a move may go: the last event it takes, how many they are, and what stops it there. */
export interface Reach {
  to: Position | null
  events: number
  limitedBy: Limit
}

export interface SlowestConsumer {
  name: string
  position: Position
}

/** The consumer that has read least of those for whom the journal is kept; undefined when there is none. */
export async function selectSlowestConsumer(
  sql: Sql,
  ctx: Tenant,
): Promise<SlowestConsumer | undefined> {
  const [row] = await sql<(Position & { name: string })[]>`
    select name, journal_epoch, tx_id::text as tx_id, sequence
    from event_consumer_cursors
    where tenant_id = ${ctx.tenantId}
      and holds_journal
    order by journal_epoch, event_consumer_cursors.tx_id, sequence
    limit 1`
  if (!row) return undefined
  const { name, ...position } = row
  return { name, position }
}

/**
 * Whether a consumer that every event is meant for has a place in the tenant's journal. One of many that
 * people add, such as a webhook, has a colon in its name and does not count: it says nothing about the rest.
 */
export async function selectHasMainConsumer(sql: Sql, ctx: Tenant): Promise<boolean> {
  const [row] = await sql<{ found: boolean }[]>`
    select exists (
      select 1
      from event_consumer_cursors
      where tenant_id = ${ctx.tenantId}
        and strpos(name, ':') = 0) as found`
  return row?.found === true
}

const TABLES = { archive: 'events', prune: 'events_archive' } as const
export type Move = keyof typeof TABLES

/**
 * Finds the longest run of events from the start of a half of the journal that may be moved. It ends
 * before the first event that must stay, so that a floor never has an event below it. Reads at most
 * `maxEvents` + 1 rows by the primary key.
 */
export async function selectReach(
  sql: Sql,
  ctx: Tenant,
  move: Move,
  { consumer, minAgeSeconds, maxEvents }: Bounds,
): Promise<Reach> {
  const isAhead = consumer
    ? sql`(e.journal_epoch, e.tx_id, e.sequence) > ${rowAt(sql, consumer)}`
    : sql`false`
  const rows = await sql<(Position & { n: number; stop: Limit | null })[]>`
    with head as (
      select e.journal_epoch, e.tx_id, e.sequence,
             case when ${isAhead} then 'consumer'
                  when not (${isStable(sql)}) then 'open_transaction'
                  when e.occurred_at >= now() - make_interval(secs => ${minAgeSeconds}) then 'age'
             end as stop
      from ${sql(TABLES[move])} e
      where e.tenant_id = ${ctx.tenantId}
      order by e.journal_epoch, e.tx_id, e.sequence
      limit ${maxEvents + 1}),
    counted as (
      select head.*, (count(stop) over place)::int as stops, (row_number() over place)::int as n
      from head
      window place as (order by journal_epoch, tx_id, sequence))
    (select journal_epoch, tx_id::text as tx_id, sequence, n, null as stop
     from counted
     where stops = 0 and n <= ${maxEvents}
     order by n desc
     limit 1)
    union all
    (select journal_epoch, tx_id::text as tx_id, sequence, n, coalesce(stop, 'max_events')
     from counted
     where stops > 0 or n > ${maxEvents}
     order by n
     limit 1)`
  const last = rows.find(({ stop }) => stop === null)
  const limitedBy = rows.find(({ stop }) => stop !== null)?.stop ?? 'done'
  if (!last) return { to: null, events: 0, limitedBy }
  const { journalEpoch, txId, sequence, n } = last
  return { to: { journalEpoch, txId, sequence }, events: n, limitedBy }
}

/** Moves the tenant's events up to a place to the archive, and raises the floor in the same transaction. */
export async function archiveEvents(sql: Sql, ctx: Tenant, to: Position): Promise<number> {
  await allowDeletes(sql)
  const moved = await sql`
    with moved as (
      delete from events
      where tenant_id = ${ctx.tenantId}
        and (journal_epoch, tx_id, sequence) <= ${rowAt(sql, to)}
      returning *)
    insert into events_archive
      (tenant_id, journal_epoch, tx_id, sequence, id, type, schema_version, entity_type, entity_id,
       entity_version, workspace_id, actor_id, session_id, correlation_id, causation_id, request_id,
       trace_run_id, iam_actor_id, payload, occurred_at)
    select tenant_id, journal_epoch, tx_id, sequence, id, type, schema_version, entity_type, entity_id,
           entity_version, workspace_id, actor_id, session_id, correlation_id, causation_id, request_id,
           trace_run_id, iam_actor_id, payload, occurred_at
    from moved`
  await raiseFloor(sql, ctx, 'archived', to)
  return moved.count
}

/** Deletes the tenant's archived events up to a place for good, and raises the floor with it. */
export async function pruneEvents(sql: Sql, ctx: Tenant, to: Position): Promise<number> {
  await allowDeletes(sql)
  const gone = await sql`
    delete from events_archive
    where tenant_id = ${ctx.tenantId}
      and (journal_epoch, tx_id, sequence) <= ${rowAt(sql, to)}`
  await raiseFloor(sql, ctx, 'pruned', to)
  return gone.count
}

/** The one way around the trigger that keeps the journal append-only; ends with the transaction. */
async function allowDeletes(sql: Sql): Promise<void> {
  await sql`select set_config('strata.archiving', 'on', true)`
}

/** Every tenant, for a job that goes over all of them. */
export async function selectTenants(sql: Sql): Promise<string[]> {
  const rows = await sql<{ tenantId: string }[]>`
    select tenant_id
    from tenants
    order by tenant_id`
  return rows.map(({ tenantId }) => tenantId)
}
