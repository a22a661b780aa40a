import type { Ctx } from '#lib/ctx.ts'
import type { Sql } from '#db/sql.ts'

export interface RecordRow {
  fingerprint: string
  /** Null while a command outside a transaction is running. */
  status: number | null
  body: unknown
}

interface NewRecord {
  key: string
  fingerprint: string
  status: number
  body: object
}

/** Serialises twins. Takes no transaction id, so entity locks that follow still order the journal. */
export async function lockKey(sql: Sql, ctx: Ctx, key: string): Promise<void> {
  await sql`
    select pg_advisory_xact_lock(hashtextextended(${`${ctx.tenantId}/idem/${key}`}, 0))
    where ${ctx.tenantId}::uuid is not null /* tenant_id is part of the hash */`
}

/** An expired record does not exist, whether or not the clean-up has removed it. */
export async function selectRecord(
  sql: Sql,
  ctx: Ctx,
  key: string,
): Promise<RecordRow | undefined> {
  const [row] = await sql<RecordRow[]>`
    select fingerprint, status, body
    from idempotency_records
    where tenant_id = ${ctx.tenantId}
      and key = ${key}
      and expires_at > now()`
  return row
}

/** Keeps an answer under its key; false when a live record or lease holds the key. */
export async function insertRecord(sql: Sql, ctx: Ctx, record: NewRecord): Promise<boolean> {
  const rows = await sql`
    insert into idempotency_records
      (tenant_id, key, principal_id, fingerprint, status, body, expires_at)
    values
      (${ctx.tenantId}, ${record.key}, ${ctx.actorId}, ${record.fingerprint}, ${record.status},
       ${sql.json(record.body as never)}, now() + interval '24 hours')
    on conflict (tenant_id, key) do update
    set principal_id = excluded.principal_id, fingerprint = excluded.fingerprint,
        status = excluded.status, body = excluded.body, expires_at = excluded.expires_at,
        token = null
    where idempotency_records.expires_at <= now()
    returning key`
  return rows.length > 0
}

/** Takes the key unless a live record or lease holds it; false when it is held. */
export async function insertPending(
  sql: Sql,
  ctx: Ctx,
  pending: { key: string; fingerprint: string; token: string; leaseSeconds: number },
): Promise<boolean> {
  const rows = await sql`
    insert into idempotency_records
      (tenant_id, key, principal_id, fingerprint, token, expires_at)
    values
      (${ctx.tenantId}, ${pending.key}, ${ctx.actorId}, ${pending.fingerprint}, ${pending.token},
       now() + make_interval(secs => ${pending.leaseSeconds}))
    on conflict (tenant_id, key) do update
    set principal_id = excluded.principal_id, fingerprint = excluded.fingerprint,
        token = excluded.token, status = null, body = null, expires_at = excluded.expires_at
    where idempotency_records.expires_at <= now()
    returning key`
  return rows.length > 0
}

export async function updatePending(
  sql: Sql,
  ctx: Ctx,
  done: { key: string; token: string; status: number; body: object },
): Promise<void> {
  await sql`
    update idempotency_records
    set status = ${done.status}, body = ${sql.json(done.body as never)}, token = null,
        expires_at = now() + interval '24 hours'
    where tenant_id = ${ctx.tenantId}
      and key = ${done.key}
      and token = ${done.token}`
}

export async function deletePending(
  sql: Sql,
  ctx: Ctx,
  pending: { key: string; token: string },
): Promise<void> {
  await sql`
    delete from idempotency_records
    where tenant_id = ${ctx.tenantId}
      and key = ${pending.key}
      and token = ${pending.token}`
}

/** Removes records whose time is up, of every tenant_id, a bounded number at a time; answers how many. */
export async function deleteExpiredRecords(sql: Sql, limit: number): Promise<number> {
  const rows = await sql`
    delete from idempotency_records
    where (tenant_id, key) in (
      select tenant_id, key
      from idempotency_records
      where expires_at <= now()
      order by expires_at
      limit ${limit}
      for update skip locked)`
  return rows.count
}
