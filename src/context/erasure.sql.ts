import type { ErasureMode, Removed } from '#contract/memory-deletion.ts'
import type { Visibility } from '#contract/visibility.ts'
import { inReach } from '#db/reach.ts'
import type { Sql } from '#db/sql.ts'
import type { Ctx } from '#lib/ctx.ts'

export interface ErasableRow {
  eventId: string
  authorId: string
  workspaceId: string | null
  visibility: Visibility
}

/** An observation within reach, private ones of others included. */
export async function selectErasable(
  sql: Sql,
  ctx: Ctx,
  id: string,
): Promise<ErasableRow | undefined> {
  const [row] = await sql<ErasableRow[]>`
    select event_id, author_id, workspace_id, visibility
    from observations
    where tenant_id = ${ctx.tenantId}
      and id = ${id}
      ${inReach(sql, ctx, 'workspace_id')}`
  return row
}

export async function deleteContent(sql: Sql, ctx: Ctx, eventId: string): Promise<void> {
  await sql`
    delete from observation_contents
    where tenant_id = ${ctx.tenantId}
      and event_id = ${eventId}`
}

export interface Receipt {
  erasedAt: string
  removed: Removed
}

export interface ErasureRow {
  tenantId: string
  observationId: string
  eventId: string
  mode: ErasureMode
  requestedBy: string
  requestedAt: Date
  receipt: Receipt | null
}

export async function selectErasure(
  sql: Sql,
  ctx: Ctx,
  observationId: string,
): Promise<ErasureRow | undefined> {
  const [row] = await sql<ErasureRow[]>`
    select ${columns(sql)}
    from observation_erasures
    where tenant_id = ${ctx.tenantId}
      and observation_id = ${observationId}`
  return row
}

/** Notes that memory has to be told; a purge after a redaction begins anew. */
export async function upsertErasure(
  sql: Sql,
  ctx: Ctx,
  row: Pick<ErasureRow, 'observationId' | 'eventId' | 'mode'>,
): Promise<ErasureRow> {
  const { observationId, eventId, mode } = row
  const [stored] = await sql<[ErasureRow]>`
    insert into observation_erasures (tenant_id, observation_id, event_id, mode, requested_by, next_attempt_at)
    values (${ctx.tenantId}, ${observationId}, ${eventId}, ${mode}, ${ctx.actorId},
            clock_timestamp() + ${FIRST_RETRY}::interval)
    on conflict (tenant_id, observation_id) do update
    set mode = excluded.mode, requested_by = excluded.requested_by,
        requested_at = excluded.requested_at, confirmed_at = null, receipt = null, attempts = 0,
        next_attempt_at = excluded.next_attempt_at, last_failure = null
    returning ${columns(sql)}`
  return stored
}

/** The request itself tells memory first. */
const FIRST_RETRY = '30 seconds'

/** Keeps what memory removed, for the mode that it was told. */
export async function confirmErasure(
  sql: Sql,
  { tenantId, observationId, mode }: Pick<ErasureRow, 'tenantId' | 'observationId' | 'mode'>,
  receipt: Receipt,
): Promise<void> {
  await sql`
    update observation_erasures
    set confirmed_at = clock_timestamp(), receipt = ${sql.json(receipt as never)}, last_failure = null
    where tenant_id = ${tenantId}
      and observation_id = ${observationId}
      and mode = ${mode}
      and confirmed_at is null`
}

export async function noteFailure(
  sql: Sql,
  { tenantId, observationId }: Pick<ErasureRow, 'tenantId' | 'observationId'>,
  failure: string,
): Promise<void> {
  await sql`
    update observation_erasures
    set last_failure = ${failure}
    where tenant_id = ${tenantId}
      and observation_id = ${observationId}
      and confirmed_at is null`
}

/**
 * Takes erasures that memory has not confirmed and whose time has come; each is due again later, at most an
 * hour, unless it is confirmed. Over all tenants; uses index observation_erasures_due.
 */
export async function takeDueErasures(sql: Sql, limit: number): Promise<ErasureRow[]> {
  return await sql<ErasureRow[]>`
    with due as (
      select tenant_id, observation_id
      from observation_erasures
      where confirmed_at is null
        and next_attempt_at <= clock_timestamp()
      order by next_attempt_at
      limit ${limit}
      for update skip locked
    )
    update observation_erasures as e
    set attempts = e.attempts + 1,
        next_attempt_at = clock_timestamp()
          + least(interval '1 hour', interval '10 seconds' * power(2, least(e.attempts, 20)))
    from due
    where e.tenant_id = due.tenant_id
      and e.observation_id = due.observation_id
    returning ${columns(sql, 'e.')}`
}

function columns(sql: Sql, of: '' | 'e.' = '') {
  const names = [
    'tenant_id',
    'observation_id',
    'event_id',
    'mode',
    'requested_by',
    'requested_at',
    'receipt',
  ]
  return sql(names.map((name) => `${of}${name}`))
}
