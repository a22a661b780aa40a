import type { Session } from '#contract/sessions.ts'
import { olderThan } from '#db/page.ts'
import type { PageRequest } from '#db/page.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx, Tenancy } from '#lib/ctx.ts'

export interface SessionRow {
  id: string
  principalId: string
  clientName: string
  clientVersion: string | null
  metadata: Record<string, unknown>
  onBehalfOf: string | null
  harnessType: string | null
  harnessVersion: string | null
  protocolVersion: string | null
  capabilities: string[]
  hostname: string | null
  environment: string | Record<string, unknown> | null
  controlLevel: Session['controlLevel']
  status: Session['status']
  /** Active and its lease not over, by the database clock at the time of the query. */
  isLive: boolean
  ttlSeconds: number
  expiresAt: Date
  lastHeartbeatAt: Date
  endedAt: Date | null
  version: number
  createdAt: Date
}

export type NewSessionRow = Pick<
  SessionRow,
  | 'id'
  | 'clientName'
  | 'clientVersion'
  | 'metadata'
  | 'onBehalfOf'
  | 'harnessType'
  | 'harnessVersion'
  | 'protocolVersion'
  | 'capabilities'
  | 'hostname'
  | 'environment'
  | 'controlLevel'
  | 'ttlSeconds'
>

function columns(sql: Sql) {
  return sql`id, principal_id, client_name, client_version, metadata, on_behalf_of, harness_type,
    harness_version, protocol_version, capabilities, hostname, environment, control_level, status,
    status = 'active' and expires_at > clock_timestamp() as is_live,
    ttl_seconds, expires_at, last_heartbeat_at, ended_at, version, created_at`
}

export async function insertSession(sql: Sql, ctx: Ctx, row: NewSessionRow): Promise<SessionRow> {
  const [inserted] = await sql<[SessionRow]>`
    insert into sessions
      (tenant_id, id, principal_id, client_name, client_version, metadata, on_behalf_of,
       harness_type, harness_version, protocol_version, capabilities, hostname, environment, control_level,
       ttl_seconds, expires_at)
    values
      (${ctx.tenantId}, ${row.id}, ${ctx.actorId}, ${row.clientName}, ${row.clientVersion},
       ${sql.json(row.metadata as never)}, ${row.onBehalfOf}, ${row.harnessType}, ${row.harnessVersion},
       ${row.protocolVersion}, ${row.capabilities}::text[], ${row.hostname},
       ${row.environment === null ? null : sql.json(row.environment as never)},
       ${row.controlLevel}, ${row.ttlSeconds},
       clock_timestamp() + make_interval(secs => ${row.ttlSeconds}))
    returning ${columns(sql)}`
  return inserted
}

export async function selectSession(
  sql: Sql,
  ctx: Tenancy,
  id: string,
): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    select ${columns(sql)}
    from sessions
    where tenant_id = ${ctx.tenantId}
      and id = ${id}`
  return row
}

/** Uses index sessions_by_principal. Reads one row more than the page holds. */
export async function selectSessions(
  sql: Sql,
  ctx: Ctx,
  filter: { page: PageRequest; status: Session['status'] | undefined },
): Promise<SessionRow[]> {
  const { page, status } = filter
  const seen = sql`case when status = 'active' and expires_at <= clock_timestamp()
    then 'expired' else status end`
  return await sql<SessionRow[]>`
    select ${columns(sql)}
    from sessions
    where tenant_id = ${ctx.tenantId}
      and principal_id = ${ctx.actorId}
      ${status ? sql`and ${seen} = ${status}` : sql``}
      ${olderThan(sql, page)}
    order by created_at desc, id desc
    limit ${page.limit + 1}`
}

/** The caller's live sessions, newest first. Uses index sessions_by_principal. */
export async function selectLiveSessions(sql: Sql, ctx: Ctx, limit: number): Promise<SessionRow[]> {
  return await sql<SessionRow[]>`
    select ${columns(sql)}
    from sessions
    where tenant_id = ${ctx.tenantId}
      and principal_id = ${ctx.actorId}
      and status = 'active'
      and expires_at > clock_timestamp()
    order by created_at desc, id desc
    limit ${limit}`
}

/**
 * Renews the lease if it is still live, and its owner is this one unless that is null; a lease that ended
 * is never revived. `ttlSeconds` null keeps the length it has.
 */
export async function extendSession(
  sql: Sql,
  ctx: Tenancy,
  session: { id: string; ownerId: string | null; ttlSeconds: number | null },
): Promise<SessionRow | undefined> {
  const { id, ownerId, ttlSeconds } = session
  const [row] = await sql<SessionRow[]>`
    update sessions
    set ttl_seconds = coalesce(${ttlSeconds}::int, ttl_seconds),
        last_heartbeat_at = clock_timestamp(),
        expires_at = clock_timestamp()
          + make_interval(secs => coalesce(${ttlSeconds}::int, ttl_seconds))
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      and ended_at is null
      and expires_at > clock_timestamp()
      ${ownerId === null ? sql`` : sql`and principal_id = ${ownerId}`}
    returning ${columns(sql)}`
  return row
}

/** An expiry is recorded only while the lease is over: a renewal that came in between wins. */
export async function updateSessionEnded(
  sql: Sql,
  ctx: Tenancy,
  session: { id: string; status: 'closed' | 'expired' },
): Promise<SessionRow | undefined> {
  const [row] = await sql<SessionRow[]>`
    update sessions
    set status = ${session.status}, ended_at = clock_timestamp(), version = version + 1
    where tenant_id = ${ctx.tenantId}
      and id = ${session.id}
      and status = 'active'
      ${session.status === 'expired' ? sql`and expires_at <= clock_timestamp()` : sql``}
    returning ${columns(sql)}`
  return row
}

/** Sessions whose lease ended unrecorded, in every tenant. Reads the
 * active ones by sessions_active. */
export async function selectOverdueSessions(
  sql: Sql,
  limit: number,
): Promise<{ tenantId: string; id: string }[]> {
  return await sql<{ tenantId: string; id: string }[]>`
    select tenant_id, id
    from sessions
    where status = 'active'
      and expires_at <= clock_timestamp()
    order by expires_at
    limit ${limit}`
}
