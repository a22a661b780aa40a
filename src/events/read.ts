import type { JournalEvent } from '#contract/events.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Tenancy } from '#lib/ctx.ts'
import { comparePositions, encodeCursor, ORIGIN } from './cursor.ts'
import type { Position } from './cursor.ts'
import { checkFloor, selectFloors } from './floors.ts'
import { isStable, rowAt } from './horizon.ts'

/** Whose journal, and how far the reader reaches; readers that are not requests reach all of it. */
export type Tenant = Tenancy

export interface EventFilter {
  /** Prefixes of types: `run.` or `task.created`. */
  types?: readonly string[] | undefined
  entityType?: string | undefined
  entityId?: string | undefined
  /** Events stamped with one of these. */
  workspaceIds?: readonly string[] | undefined
  actorId?: string | undefined
  /** By the time of the event, inclusive. */
  from?: string | undefined
  /** The same, exclusive. */
  to?: string | undefined
}

export interface EventPage {
  events: JournalEvent[]
  /** Where to go on: never skips an event, also when the page is empty or filtered. */
  next: Position
  hasMore: boolean
}

type Row = Omit<JournalEvent, 'cursor'> & { journalEpoch: number }

/**
 * The events after a position, in the order they became visible, none ever skipped; without a position,
 * from the oldest one that has been kept. What has been archived is read like everything else. Throws
 * `cursor_below_journal_floor` when events after the position are gone.
 *
 * `sequence` alone is not a cursor: numbers are taken before commit, so a slow transaction can publish
 * a smaller one later. So rows are ordered by transaction first, and those of transactions that may
 * still be running are held back: a long writer delays readers, it never loses them an event. The
 * horizon and the rows come from the same statement, hence the same snapshot.
 *
 * A filtered reader that reaches the end goes on from the frontier taken before its page, not from its
 * last match, so that rare events are not searched for again and again.
 */
export async function readEvents(
  sql: Sql,
  ctx: Tenant,
  page: { after?: Position | undefined; limit: number; filter?: EventFilter },
): Promise<EventPage> {
  const { after, limit, filter = {} } = page
  const isFiltered = ctx.reach || Object.values(filter).some((value) => value !== undefined)
  const frontier = isFiltered ? await currentPosition(sql, ctx) : undefined
  const rows = await selectPage(sql, ctx, { after: after ?? ORIGIN, limit: limit + 1, filter })
  const floors = await selectFloors(sql, ctx)
  if (after) checkFloor(after, floors)
  const hasMore = rows.length > limit
  const events = rows.slice(0, limit).map(toEvent)
  const last = rows[Math.min(rows.length, limit) - 1]
  const reached = last ? positionOf(last) : (after ?? floors.pruned)
  return { events, next: hasMore || !frontier ? reached : later(frontier, reached), hasMore }
}

/**
 * The last `limit` stable events, oldest first, of the whole journal or of what stands before a
 * position. `hasMore` tells of older ones. Reading on from `next` misses nothing: it is the last event
 * given, or for the end of the journal the frontier taken before it was read. Throws
 * `cursor_below_journal_floor` when the place given has been removed with what stands after it.
 */
export async function readTail(
  sql: Sql,
  ctx: Tenant,
  page: { limit: number; before?: Position; filter?: EventFilter },
): Promise<EventPage> {
  const { limit, before, filter = {} } = page
  const frontier = before ? undefined : await currentPosition(sql, ctx)
  const rows = await selectPage(sql, ctx, { before, limit: limit + 1, filter })
  if (before) checkFloor(before, await selectFloors(sql, ctx))
  const [newest] = rows
  const last = newest ? positionOf(newest) : (before ?? ORIGIN)
  return {
    events: rows.slice(0, limit).toReversed().map(toEvent),
    next: frontier ? later(frontier, last) : last,
    hasMore: rows.length > limit,
  }
}

function later(a: Position, b: Position): Position {
  return comparePositions(a, b) > 0 ? a : b
}

function positionOf({ journalEpoch, txId, sequence }: Row): Position {
  return { journalEpoch, txId, sequence }
}

function toEvent({ journalEpoch, ...row }: Row): JournalEvent {
  const { txId, sequence } = row
  return { cursor: encodeCursor({ journalEpoch, txId, sequence }), ...row }
}

/**
 * Forward after a position, or newest first. Uses the primary keys of events and events_archive, merged
 * in order, or events_by_entity and its twin.
 */
async function selectPage(
  sql: Sql,
  ctx: Tenant,
  page: { after?: Position; before?: Position | undefined; limit: number; filter: EventFilter },
): Promise<Row[]> {
  const { after, before, limit, filter } = page
  const direction = after ? sql`asc` : sql`desc`
  return await sql<Row[]>`
    select e.journal_epoch, e.tx_id::text as tx_id, e.sequence, e.id, e.tenant_id, e.type,
           e.schema_version, e.entity_type, e.entity_id, e.entity_version, e.workspace_id,
           e.actor_id, e.session_id, e.correlation_id, e.causation_id, e.request_id,
           e.trace_run_id, e.iam_actor_id, e.payload,
           to_char(e.occurred_at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
             as occurred_at
    from journal e
    where e.tenant_id = ${ctx.tenantId}
      ${after ? sql`and (e.journal_epoch, e.tx_id, e.sequence) > ${rowAt(sql, after)}` : sql``}
      ${before ? sql`and (e.journal_epoch, e.tx_id, e.sequence) < ${rowAt(sql, before)}` : sql``}
      and ${isStable(sql)}
      ${inReach(sql, ctx, 'e.workspace_id')}
      ${matching(sql, filter)}
    order by e.journal_epoch ${direction}, e.tx_id ${direction}, e.sequence ${direction}
    limit ${limit}`
}

function matching(sql: Sql, filter: EventFilter) {
  const { types, entityType, entityId, workspaceIds, actorId, from, to } = filter
  const byType =
    types &&
    sql`and exists (
      select 1 from unnest(${[...types]}::text[]) as prefix
      where starts_with(e.type, prefix))`
  return sql`
    ${byType ?? sql``}
    ${entityType === undefined ? sql`` : sql`and e.entity_type = ${entityType}`}
    ${entityId === undefined ? sql`` : sql`and e.entity_id = ${entityId}`}
    ${workspaceIds ? sql`and e.workspace_id = any(${[...workspaceIds]}::uuid[])` : sql``}
    ${actorId === undefined ? sql`` : sql`and e.actor_id = ${actorId}`}
    ${from === undefined ? sql`` : sql`and e.occurred_at >= ${from}`}
    ${to === undefined ? sql`` : sql`and e.occurred_at < ${to}`}`
}

/**
 * The greatest stable position of the tenant's journal, or its floor when everything has been removed. A
 * reader takes it before anything else it reads: a race is then seen twice, never lost.
 */
export async function currentPosition(sql: Sql, ctx: Tenant): Promise<Position> {
  const [row] = await sql<Position[]>`
    select e.journal_epoch, e.tx_id::text as tx_id, e.sequence
    from journal e
    where e.tenant_id = ${ctx.tenantId}
      and ${isStable(sql)}
    order by e.journal_epoch desc, e.tx_id desc, e.sequence desc
    limit 1`
  return row ?? (await selectFloors(sql, ctx)).pruned
}

/**
 * How many events of the tenant stand after a position, counted up to `cap`, and when the first of them
 * happened. Those that an open transaction holds back count too: 0 means that a reader at this position
 * has been told everything that is committed.
 */
export async function countEventsAfter(
  sql: Sql,
  ctx: Tenant,
  after: Position,
  cap: number,
): Promise<{ count: number; firstAt: Date | null }> {
  const [row] = await sql<{ count: number; firstAt: Date | null }[]>`
    select count(*)::int as count, min(occurred_at) as first_at
    from (
      select e.occurred_at
      from journal e
      where e.tenant_id = ${ctx.tenantId}
        and (e.journal_epoch, e.tx_id, e.sequence) > ${rowAt(sql, after)}
      order by e.journal_epoch, e.tx_id, e.sequence
      limit ${cap}
    ) as pending`
  return row ?? { count: 0, firstAt: null }
}

/**
 * Age in seconds of the tenant's oldest committed event that an open transaction still holds back from
 * readers; 0 when none is held back. Uses the primary key of events.
 */
export async function horizonLagSeconds(sql: Sql, ctx: Tenant): Promise<number> {
  const [row] = await sql<{ lag: number }[]>`
    select coalesce(extract(epoch from clock_timestamp() - min(e.occurred_at)), 0)::float8 as lag
    from events e
    where e.tenant_id = ${ctx.tenantId}
      and e.journal_epoch = (select journal_epoch from journal_state)
      and e.tx_id >= pg_snapshot_xmin(pg_current_snapshot())`
  return Math.max(0, row?.lag ?? 0)
}
