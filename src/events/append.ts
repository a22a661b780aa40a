import type { Author, Tenancy } from '#lib/ctx.ts'
import { newId } from '#lib/id.ts'
import type { NewEvent } from '#contract/events.ts'
import type { Sql } from '#db/sql.ts'

export interface Entity {
  type: string
  id: string
}

/**
 * Serialises writers of the same entities until the transaction ends. Must be the transaction's first
 * statement: it assigns no transaction id, so the ids of writers that waited here are taken after the
 * wait, and one entity's events stand in the journal in the order of its versions. Locks are taken in
 * one order, so two commands cannot deadlock. An id means the same in either case, as in the database.
 */
export async function lockEntities(
  sql: Sql,
  ctx: Tenancy,
  entities: readonly Entity[],
): Promise<void> {
  const names = [...new Set(entities.map((entity) => lockName(ctx, entity)))].toSorted()
  if (names.length === 0) return
  await sql`
    select pg_advisory_xact_lock(hashtextextended(name, 0))
    from unnest(${names}::text[]) as name`
}

/**
 * Locks, and does what depends on the lock, in one round trip: statements are sent behind the lock without
 * waiting for it, and each sees what was committed before the lock was given. `lock` sends its statement,
 * and `behind` all of its own, before either awaits anything else.
 */
export async function lockThen<T>(lock: () => Promise<void>, behind: () => Promise<T>): Promise<T> {
  const [, result] = await Promise.all([lock(), behind()])
  return result
}

/**
 * The lock of an entity whose id a query finds, without asking for the id first:
 * `select ${lockFound(sql, ctx, { type: 'task', column: 'c.task_id' })} from claims c where ...`.
 */
export function lockFound(
  sql: Sql,
  { tenantId }: Tenancy,
  { type, column }: { type: string; column: string },
) {
  const name = sql`${`${tenantId}/${type}/`} || ${sql(column)}::text`
  return sql`pg_advisory_xact_lock(hashtextextended(${name}, 0))`
}

/** The same for one entity, but answers false at once when somebody else is writing it. */
export async function tryLockEntity(sql: Sql, ctx: Tenancy, entity: Entity): Promise<boolean> {
  const [row] = await sql<[{ locked: boolean }]>`
    select pg_try_advisory_xact_lock(hashtextextended(${lockName(ctx, entity)}, 0)) as locked`
  return row.locked
}

function lockName({ tenantId }: Tenancy, { type, id }: Entity): string {
  return `${tenantId}/${type}/${id.toLowerCase()}`
}

/**
 * Records facts in the journal, in the caller's transaction and in the order given: the events exist
 * exactly when the change does. Readers are woken after the commit (see `Ctx.wake`).
 *
 * @returns the ids of the events
 */
export async function appendEvents(
  sql: Sql,
  ctx: Author,
  events: readonly NewEvent[],
): Promise<string[]> {
  const rows = events.map(eventRow)
  await insertEvents(sql, ctx, rows)
  ctx.wake(rows.map((row) => row.type))
  return rows.map((row) => row.id)
}

/**
 * The same as part of a statement that makes the change as well: `with change as (update ...), journal as
 * (${withEvents(sql, ctx, events)}) select ...`. The caller has read under its lock which versions
 * the change brings about.
 */
export function withEvents(sql: Sql, ctx: Author, events: readonly NewEvent[]) {
  ctx.wake(events.map((event) => event.type))
  return insertEvents(sql, ctx, events.map(eventRow))
}

function eventRow(event: NewEvent) {
  return {
    id: newId(),
    type: event.type,
    entity_type: event.entityType,
    entity_id: event.entityId,
    entity_version: event.entityVersion,
    workspace_id: event.workspaceId,
    session_id: event.sessionId ?? null,
    causation_id: event.causationId ?? null,
    payload: event.payload,
  }
}

function insertEvents(sql: Sql, ctx: Author, rows: readonly ReturnType<typeof eventRow>[]) {
  return sql`
    insert into events
      (tenant_id, journal_epoch, id, type, entity_type, entity_id, entity_version, workspace_id,
       actor_id, iam_actor_id, session_id, correlation_id, causation_id, request_id, trace_run_id,
       payload)
    select ${ctx.tenantId}, j.journal_epoch, e.id, e.type, e.entity_type, e.entity_id,
           e.entity_version, e.workspace_id, ${ctx.actorId}, ${ctx.iam?.principalId ?? null},
           e.session_id, ${ctx.correlationId}, e.causation_id, ${ctx.requestId}, ${ctx.traceRunId}, e.payload
    from journal_state j,
      jsonb_array_elements(${sql.json(rows as never)}) with ordinality as item (event, position),
      jsonb_to_record(item.event) as e (
        id uuid, type text, entity_type text, entity_id text, entity_version integer,
        workspace_id uuid, session_id uuid, causation_id text, payload jsonb)
    order by item.position`
}

export async function appendEvent(sql: Sql, ctx: Author, event: NewEvent): Promise<string> {
  const [id = ''] = await appendEvents(sql, ctx, [event])
  return id
}
