import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Position } from '#events/cursor.ts'
import type { Tenancy } from '#lib/ctx.ts'

export interface WebhookFilter {
  types?: string[] | undefined
  entityType?: string | undefined
  entityId?: string | undefined
}

export interface WebhookRow {
  id: string
  ownerId: string
  workspaceId: string | null
  url: string
  description: string
  filter: WebhookFilter
  status: 'active' | 'paused'
  pauseReason: string | null
  previousUntil: Date | null
  version: number
  createdAt: Date
  position: Position
  failureCount: number
  reason: string | null
  nextAttemptAt: Date | null
  deadLetters: number
}

type Stored = Omit<WebhookRow, 'position'> & Position

function columns(sql: Sql) {
  return sql`w.id, w.owner_id, w.workspace_id, w.url, w.description, w.filter, w.status,
    w.pause_reason, w.version, w.created_at,
    case when w.previous_until > clock_timestamp() then w.previous_until end as previous_until,
    c.journal_epoch, c.tx_id::text as tx_id, c.sequence, c.failure_count, c.reason,
    c.next_attempt_at,
    (select count(*)::int
     from webhook_dead_letters d
     where d.tenant_id = w.tenant_id and d.webhook_id = w.id) as dead_letters`
}

function withPlace(sql: Sql) {
  return sql`webhooks w
    join event_consumer_cursors c on c.tenant_id = w.tenant_id and c.name = 'webhook:' || w.id`
}

function toRow({ journalEpoch, txId, sequence, ...rest }: Stored): WebhookRow {
  return { ...rest, position: { journalEpoch, txId, sequence } }
}

export async function selectWebhook(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<WebhookRow | undefined> {
  const [row] = await sql<Stored[]>`
    select ${columns(sql)}
    from ${withPlace(sql)}
    where w.tenant_id = ${ctx.tenantId}
      and w.id = ${id}
      ${inReach(sql, ctx, 'w.workspace_id')}`
  return row && toRow(row)
}

/** Uses index webhooks_by_time. Reads one row more than the page holds. */
export async function selectWebhooks(
  sql: Sql,
  ctx: Tenancy,
  page: PageRequest,
): Promise<WebhookRow[]> {
  const rows = await sql<Stored[]>`
    with shown as (
      select *
      from webhooks
      where tenant_id = ${ctx.tenantId}
        ${inReach(sql, ctx, 'workspace_id')}
        ${olderThan(sql, page)}
      order by created_at desc, id desc
      limit ${page.limit + 1})
    select ${columns(sql)}
    from shown w
    join event_consumer_cursors c on c.tenant_id = w.tenant_id and c.name = 'webhook:' || w.id
    order by w.created_at desc, w.id desc`
  return rows.map(toRow)
}

export async function countWebhooks(sql: Sql, { tenantId }: Tenancy): Promise<number> {
  const [row] = await sql<[{ count: number }]>`
    select count(*)::int as count
    from webhooks
    where tenant_id = ${tenantId}`
  return row.count
}

export async function insertWebhook(
  sql: Sql,
  ctx: Tenancy,
  webhook: Pick<WebhookRow, 'id' | 'ownerId' | 'workspaceId' | 'url' | 'description' | 'filter'> & {
    secret: Uint8Array
  },
): Promise<void> {
  const { id, ownerId, workspaceId, url, description, filter, secret } = webhook
  await sql`
    insert into webhooks
      (tenant_id, id, owner_id, workspace_id, url, description, filter, secret)
    values
      (${ctx.tenantId}, ${id}, ${ownerId}, ${workspaceId}, ${url}, ${description},
       ${sql.json(filter as never)}, ${secret})`
}

export interface WebhookChange {
  id: string
  url?: string | undefined
  description?: string | undefined
  filter?: WebhookFilter | undefined
}

/** What is undefined stays as it is; the version grows. */
export async function updateWebhookRow(
  sql: Sql,
  { tenantId }: Tenancy,
  { id, url, description, filter }: WebhookChange,
): Promise<void> {
  await sql`
    update webhooks
    set url = coalesce(${url ?? null}, url),
        description = coalesce(${description ?? null}, description),
        filter = coalesce(${filter === undefined ? null : sql.json(filter as never)}, filter),
        version = version + 1
    where tenant_id = ${tenantId}
      and id = ${id}`
}

/** Pauses it for a reason, or lets it go on; answers its version. */
export async function updateWebhookStatus(
  sql: Sql,
  { tenantId }: Tenancy,
  { id, pauseReason }: { id: string; pauseReason: string | null },
): Promise<number> {
  const [row] = await sql<[{ version: number }]>`
    update webhooks
    set status = ${pauseReason === null ? 'active' : 'paused'}, pause_reason = ${pauseReason},
        dead_in_a_row = 0, version = version + 1
    where tenant_id = ${tenantId}
      and id = ${id}
    returning version`
  return row.version
}

/** The present secret becomes the one before; one that was there already is forgotten. */
export async function updateWebhookSecret(
  sql: Sql,
  { tenantId }: Tenancy,
  { id, secret, overlapSeconds }: { id: string; secret: Uint8Array; overlapSeconds: number },
): Promise<Date> {
  const [row] = await sql<[{ previousUntil: Date }]>`
    update webhooks
    set previous_secret = secret, secret = ${secret},
        previous_until = clock_timestamp() + make_interval(secs => ${overlapSeconds}),
        version = version + 1
    where tenant_id = ${tenantId}
      and id = ${id}
    returning previous_until`
  return row.previousUntil
}

export async function deleteWebhookRow(sql: Sql, { tenantId }: Tenancy, id: string): Promise<void> {
  await sql`
    delete from webhooks
    where tenant_id = ${tenantId}
      and id = ${id}`
}

/** What a delivery needs to know, as it is at this moment. */
export interface DeliveryRow {
  ownerId: string
  workspaceId: string | null
  url: string
  filter: WebhookFilter
  status: 'active' | 'paused'
  secret: Uint8Array
  /** Null when none is valid any more. */
  previousSecret: Uint8Array | null
  deadInARow: number
  version: number
  ownerStatus: 'active' | 'suspended' | 'disabled'
  /** Whether a key or a binding of the owner lets it read all that this webhook tells. */
  mayRead: boolean
  /** Seconds since 1970 by the clock of the database, which all processes share. */
  now: number
}

/**
 * A webhook to be served, with its owner's standing. The owner may read when a live key or an active
 * binding of it permits `events.read` and reaches the whole tenant, or the workspace or one above it.
 */
export async function selectForDelivery(
  sql: Sql,
  tenantId: string,
  id: string,
): Promise<DeliveryRow | undefined> {
  const [row] = await sql<DeliveryRow[]>`
    with recursive hook as (
      select *
      from webhooks
      where tenant_id = ${tenantId}
        and id = ${id}),
    line as (
      select x.id, x.parent_id
      from hook
      join workspaces x on x.tenant_id = hook.tenant_id and x.id = hook.workspace_id
      union all
      select x.id, x.parent_id
      from line
      join workspaces x on x.tenant_id = ${tenantId} and x.id = line.parent_id),
    held as (
      select k.permissions, k.workspace_id
      from hook
      join api_keys k on k.tenant_id = hook.tenant_id and k.principal_id = hook.owner_id
      where k.revoked_at is null
        and (k.expires_at is null or k.expires_at > clock_timestamp())
      union all
      select b.permissions, b.workspace_id
      from hook
      join iam_bindings b on b.tenant_id = hook.tenant_id and b.principal_id = hook.owner_id
      where b.status = 'active')
    select w.owner_id, w.workspace_id, w.url, w.filter, w.status, w.secret, w.dead_in_a_row, w.version,
           floor(extract(epoch from clock_timestamp()))::float8 as now,
           case when w.previous_until > clock_timestamp() then w.previous_secret end
             as previous_secret,
           p.status as owner_status,
           exists (
             select 1
             from held h
             where h.permissions && array['admin', 'events.read']
               and (h.workspace_id is null or h.workspace_id in (select line.id from line))) as may_read
    from hook w
    join principals p on p.tenant_id = w.tenant_id and p.id = w.owner_id`
  return row
}
