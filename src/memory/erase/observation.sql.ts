import type { Recorded } from '#contract/memory.ts'
import type { ErasureMode, Removed } from '#contract/memory-deletion.ts'
import type { Sql } from '#db/sql.ts'

export interface ErasableRow {
  item: number
  status: Recorded['status']
  kind: string
  content: string | null
  data: Record<string, unknown> | null
  assertions: Record<string, unknown>[]
  occurredAt: string
  scopes: string[]
  isOpen: boolean
  termCount: number
}

export async function selectErasable(
  sql: Sql,
  namespaceId: string,
  observationId: string,
): Promise<ErasableRow | undefined> {
  const [row] = await sql<ErasableRow[]>`
    select item::float8 as item, status, kind, content, data, assertions, scopes, term_count,
           valid_to is null and retired_at is null as is_open,
           to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at
    from observations
    where namespace_id = ${namespaceId}
      and observation_id = ${observationId}`
  return row
}

/** Assertions of other observations of the same moment. Needs `observations_by_time`. */
export async function selectTwins(
  sql: Sql,
  namespaceId: string,
  { observationId, occurredAt }: { observationId: string; occurredAt: string },
): Promise<{ observationId: string; assertions: Record<string, unknown>[] }[]> {
  return await sql<{ observationId: string; assertions: Record<string, unknown>[] }[]>`
    select observation_id, assertions
    from observations
    where namespace_id = ${namespaceId}
      and occurred_at = ${occurredAt}::text::timestamptz
      and observation_id <> ${observationId}
      and assertions <> '[]'`
}

/** Assertions of other observations that give an entity one of these names. Reads the whole namespace. */
export async function selectNaming(
  sql: Sql,
  namespaceId: string,
  { observationId, aliases }: { observationId: string; aliases: readonly string[] },
): Promise<{ observationId: string; assertions: Record<string, unknown>[] }[]> {
  const named = aliases.map((alias) => [{ assert: 'entity', entity: { aliases: [alias] } }])
  return await sql<{ observationId: string; assertions: Record<string, unknown>[] }[]>`
    select observation_id, assertions
    from observations
    where namespace_id = ${namespaceId}
      and observation_id <> ${observationId}
      and assertions <> '[]'
      and assertions @> any (
        select value
        from jsonb_array_elements(${sql.json(named)}))`
}

/** Leaves of an observation that there was one, when, from where and of whom. */
export async function redactObservation(
  sql: Sql,
  { id, now }: { id: string; now: string },
  observationId: string,
): Promise<void> {
  await sql`
    update observations
    set status = 'redacted', status_detail = null, processed_at = ${now},
        retired_at = coalesce(retired_at, ${now}::text::timestamptz),
        title = null, content = null, data = null, assertions = '[]', provenance = null,
        content_hash = '', terms = '{}', term_tfs = '{}', term_count = 0
    where namespace_id = ${id}
      and observation_id = ${observationId}`
}

export async function deleteObservation(
  sql: Sql,
  namespaceId: string,
  observationId: string,
): Promise<void> {
  await sql`
    delete from observations
    where namespace_id = ${namespaceId}
      and observation_id = ${observationId}`
}

export interface TombstoneRow {
  observationId: string
  mode: ErasureMode
  /** Those that hid the observation. */
  scopes: string[]
  erasedAt: string
  removed: Removed
}

/** Those of the ids that were erased. */
export async function selectTombstones(
  sql: Sql,
  namespaceId: string,
  observationIds: readonly string[],
): Promise<TombstoneRow[]> {
  return await sql<TombstoneRow[]>`
    select observation_id, mode, scopes, removed,
           to_char(erased_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as erased_at
    from tombstones
    where namespace_id = ${namespaceId}
      and observation_id = any(${[...observationIds]}::text[])`
}

/** Keeps an erasure in mind; a purge after a redaction takes its place. */
export async function upsertTombstone(
  sql: Sql,
  namespaceId: string,
  { observationId, mode, scopes, erasedAt, removed }: TombstoneRow,
): Promise<void> {
  await sql`
    insert into tombstones (namespace_id, observation_id, mode, scopes, erased_at, removed)
    values (${namespaceId}, ${observationId}, ${mode}, ${scopes}, ${erasedAt}, ${sql.json(removed)})
    on conflict (namespace_id, observation_id) do update
    set mode = excluded.mode, erased_at = excluded.erased_at, removed = excluded.removed`
}
