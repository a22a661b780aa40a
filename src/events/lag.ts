import type { Sql } from '#db/sql.ts'
import type { ConsumerStatus } from './consumers.ts'

/** Events of one tenant that are counted at most. */
export const LAG_CAP = 1000

/** How far a consumer is behind, over all tenants. */
export interface ConsumerLag {
  name: string
  /** Events not yet delivered, at most {@link LAG_CAP} of each tenant. */
  events: number
  /** Tenants with more than that. */
  capped: number
  /** Age of the oldest of them; 0 when there are none. */
  seconds: number
  tenants: Record<ConsumerStatus, number>
}

/**
 * Where every consumer stands, one row each; of consumers that people add, such as webhooks, one row for all,
 * and those that are paused are not behind. One probe of the journal's primary key per place.
 */
export async function selectConsumerLags(sql: Sql): Promise<ConsumerLag[]> {
  const rows = await sql<(Omit<ConsumerLag, 'tenants'> & Record<ConsumerStatus, number>)[]>`
    select split_part(c.name, ':', 1) as name,
           sum(least(pending.count, ${LAG_CAP}::int))::float8 as events,
           count(*) filter (where pending.count > ${LAG_CAP}::int)::int as capped,
           coalesce(extract(epoch from clock_timestamp() - min(pending.first_at)), 0)::float8
             as seconds,
           count(*) filter (where l.is_paused is null and c.status = 'ok')::int as ok,
           count(*) filter (where l.is_paused is null and c.status = 'retrying')::int as retrying,
           count(*) filter (where l.is_paused is null and c.status = 'parked')::int as parked,
           count(*) filter (where l.is_paused or c.status = 'paused')::int as paused
    from event_consumer_cursors c
    cross join lateral (
      select count(*)::int as count, min(e.occurred_at) as first_at
      from (
        select occurred_at
        from journal
        where tenant_id = c.tenant_id
          and c.holds_journal
          and (journal_epoch, tx_id, sequence) > (c.journal_epoch, c.tx_id, c.sequence)
        order by journal_epoch, tx_id, sequence
        limit ${LAG_CAP}::int + 1) as e) as pending
    left join lateral (
      select true as is_paused
      from event_consumer_leaders
      where name = c.name
        and (paused_until > now() or pause_reason is not null)
      limit 1) as l on true
    group by 1
    order by 1`
  return rows.map(({ ok, retrying, parked, paused, ...lag }) => ({
    ...lag,
    tenants: { ok, retrying, parked, paused },
  }))
}

/**
 * Age in seconds of the oldest committed event of any tenant that an open transaction still holds back from
 * readers; 0 when none is held back. One probe of the primary key of events per tenant.
 */
export async function selectHorizonLag(sql: Sql): Promise<number> {
  const [row] = await sql<{ lag: number }[]>`
    select coalesce(extract(epoch from clock_timestamp() - min(e.occurred_at)), 0)::float8 as lag
    from tenants t
    cross join lateral (
      select occurred_at
      from events
      where tenant_id = t.tenant_id
        and journal_epoch = (select journal_epoch from journal_state)
        and tx_id >= pg_snapshot_xmin(pg_current_snapshot())
      order by tx_id, sequence
      limit 1) as e`
  return Math.max(0, row?.lag ?? 0)
}
