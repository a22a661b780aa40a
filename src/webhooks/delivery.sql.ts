import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Position } from '#events/cursor.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface WebhookDeliveryRow {
  id: string
  eventId: string
  eventType: string
  attempt: number
  outcome: 'delivered' | 'failed' | 'dead'
  httpStatus: number | null
  error: string | null
  durationMs: number
  createdAt: Date
}

export interface DeadLetterRow {
  /** Of the event. */
  id: string
  eventType: string
  position: Position
  attempts: number
  httpStatus: number | null
  error: string | null
  redriveAt: Date | null
  createdAt: Date
}

type Stored = Omit<DeadLetterRow, 'position'> & Position

function toRow({ journalEpoch, txId, sequence, ...rest }: Stored): DeadLetterRow {
  return { ...rest, position: { journalEpoch, txId, sequence } }
}

export async function insertDelivery(
  sql: Sql,
  { tenantId }: Tenancy,
  delivery: Omit<WebhookDeliveryRow, 'createdAt'> & { webhookId: string },
): Promise<void> {
  const { id, webhookId, eventId, eventType, attempt, outcome, httpStatus, error, durationMs } =
    delivery
  await sql`
    insert into webhook_deliveries
      (tenant_id, id, webhook_id, event_id, event_type, attempt, outcome, http_status, error,
       duration_ms)
    values
      (${tenantId}, ${id}, ${webhookId}, ${eventId}, ${eventType}, ${attempt}, ${outcome},
       ${httpStatus}, ${error}, ${durationMs})`
}

/** Forgets all but the last attempts. Uses index webhook_deliveries_by_time. */
export async function deleteOldDeliveries(
  sql: Sql,
  { tenantId }: Tenancy,
  { webhookId, keep }: { webhookId: string; keep: number },
): Promise<void> {
  await sql`
    delete from webhook_deliveries d
    using (
      select created_at, id
      from webhook_deliveries
      where tenant_id = ${tenantId}
        and webhook_id = ${webhookId}
      order by created_at desc, id desc
      offset ${keep}
      limit 1) as last
    where d.tenant_id = ${tenantId}
      and d.webhook_id = ${webhookId}
      and (d.created_at, d.id) <= (last.created_at, last.id)`
}

/** Uses index webhook_deliveries_by_time. Reads one row more than the page holds. */
export async function selectDeliveries(
  sql: Sql,
  { tenantId }: Tenancy,
  { webhookId, page }: { webhookId: string; page: PageRequest },
): Promise<WebhookDeliveryRow[]> {
  return await sql<WebhookDeliveryRow[]>`
    select id, event_id, event_type, attempt, outcome, http_status, error, duration_ms, created_at
    from webhook_deliveries
    where tenant_id = ${tenantId}
      and webhook_id = ${webhookId}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

function letterColumns(sql: Sql) {
  return sql`id, event_type, journal_epoch, tx_id::text as tx_id, sequence, attempts, http_status,
    error, redrive_at, created_at`
}

/** An event that is given up again keeps its place in the list. */
export async function upsertDeadLetter(
  sql: Sql,
  { tenantId }: Tenancy,
  letter: Omit<DeadLetterRow, 'createdAt' | 'redriveAt'> & { webhookId: string },
): Promise<void> {
  const { id, webhookId, eventType, position, attempts, httpStatus, error } = letter
  await sql`
    insert into webhook_dead_letters
      (tenant_id, webhook_id, id, event_type, journal_epoch, tx_id, sequence, attempts, http_status,
       error)
    values
      (${tenantId}, ${webhookId}, ${id}, ${eventType}, ${position.journalEpoch},
       ${position.txId}::xid8, ${position.sequence}::bigint, ${attempts}, ${httpStatus}, ${error})
    on conflict (tenant_id, webhook_id, id) do update
    set attempts = excluded.attempts, http_status = excluded.http_status, error = excluded.error,
        redrive_at = null`
}

/** Uses index webhook_dead_letters_by_time. Reads one row more than the page holds. */
export async function selectDeadLetters(
  sql: Sql,
  { tenantId }: Tenancy,
  { webhookId, page }: { webhookId: string; page: PageRequest },
): Promise<DeadLetterRow[]> {
  const rows = await sql<Stored[]>`
    select ${letterColumns(sql)}
    from webhook_dead_letters
    where tenant_id = ${tenantId}
      and webhook_id = ${webhookId}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
  return rows.map(toRow)
}

/** Those for which another attempt was asked, in the order of the journal. */
export async function selectRedriving(
  sql: Sql,
  { tenantId }: Tenancy,
  { webhookId, limit }: { webhookId: string; limit: number },
): Promise<DeadLetterRow[]> {
  const rows = await sql<Stored[]>`
    select ${letterColumns(sql)}
    from webhook_dead_letters
    where tenant_id = ${tenantId}
      and webhook_id = ${webhookId}
      and redrive_at is not null
    order by journal_epoch, webhook_dead_letters.tx_id, sequence
    limit ${limit}`
  return rows.map(toRow)
}

/** Asks for another attempt at one event, or at all; answers those that are now to be tried. */
export async function updateRedriven(
  sql: Sql,
  { tenantId }: Tenancy,
  { webhookId, eventId }: { webhookId: string; eventId: string | undefined },
): Promise<DeadLetterRow[]> {
  const rows = await sql<Stored[]>`
    update webhook_dead_letters
    set redrive_at = coalesce(redrive_at, clock_timestamp())
    where tenant_id = ${tenantId}
      and webhook_id = ${webhookId}
      ${eventId === undefined ? sql`` : sql`and id = ${eventId}`}
    returning ${letterColumns(sql)}`
  return rows.map(toRow)
}

export async function deleteDeadLetter(
  sql: Sql,
  { tenantId }: Tenancy,
  { webhookId, eventId }: { webhookId: string; eventId: string },
): Promise<DeadLetterRow | undefined> {
  const [row] = await sql<Stored[]>`
    delete from webhook_dead_letters
    where tenant_id = ${tenantId}
      and webhook_id = ${webhookId}
      and id = ${eventId}
    returning ${letterColumns(sql)}`
  return row && toRow(row)
}

export async function countDeadLetters(
  sql: Sql,
  { tenantId }: Tenancy,
  webhookId: string,
): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count
    from webhook_dead_letters
    where tenant_id = ${tenantId}
      and webhook_id = ${webhookId}`
  return row.count
}

/** Counts an event that was given up since the last one that arrived, or begins anew. */
export async function updateDeadInARow(
  sql: Sql,
  { tenantId }: Tenancy,
  { webhookId, deadInARow }: { webhookId: string; deadInARow: number },
): Promise<void> {
  await sql`
    update webhooks
    set dead_in_a_row = ${deadInARow}
    where tenant_id = ${tenantId}
      and id = ${webhookId}`
}
