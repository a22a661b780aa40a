import type { Sql } from '#db/sql.ts'
import type { ItemKind } from '../recall/item.ts'
import type { Packed } from './packed.ts'

export interface Searchable {
  item: string
  kind: ItemKind
}

/** Searchable items of a namespace with a number above `after`, in order of their numbers. */
export async function selectSearchablePage(
  sql: Sql,
  namespaceId: string,
  after: number,
  limit: number,
): Promise<Searchable[]> {
  return await sql<Searchable[]>`
    select item, kind
    from searchable
    where namespace_id = ${namespaceId} and item > ${after}
    order by item
    limit ${limit}`
}

/** Those of the given items that are searchable now. */
export async function selectSearchable(
  sql: Sql,
  namespaceId: string,
  items: readonly string[],
): Promise<Searchable[]> {
  return await sql<Searchable[]>`
    select item, kind
    from searchable
    where namespace_id = ${namespaceId} and item = any(${[...items]}::bigint[])
    order by item`
}

/** The changes after a version, oldest first; the last version may be incomplete when there are `limit`. */
export async function selectChangePage(
  sql: Sql,
  namespaceId: string,
  after: number,
  limit: number,
): Promise<{ version: number; items: string[] }[]> {
  return await sql<{ version: number; items: string[] }[]>`
    select version::float8 as version, items
    from changes
    where namespace_id = ${namespaceId} and version > ${after}
    order by version, kind
    limit ${limit}`
}

export interface NewVector {
  item: string
  packed: Packed
}

/** Keeps vectors as a batch of a model; those of items that are gone meanwhile are left out. */
export async function upsertVectors(
  sql: Sql,
  batch: { namespaceId: string; model: string; seq: number },
  vectors: readonly NewVector[],
): Promise<void> {
  await sql`
    insert into vectors (namespace_id, item, model, seq, scale, vector)
    select ${batch.namespaceId}, new.item, ${batch.model}, ${batch.seq}, new.scale, decode(new.vector, 'base64')
    from unnest(
      ${vectors.map(({ item }) => item)}::bigint[],
      ${vectors.map(({ packed }) => packed.scale)}::real[],
      ${vectors.map(({ packed }) => Buffer.from(packed.bytes.buffer).toString('base64'))}::text[]
    ) as new (item, scale, vector)
    where exists (
      select from searchable s
      where s.namespace_id = ${batch.namespaceId} and s.item = new.item
    )
    on conflict (namespace_id, item) do update
    set model = excluded.model, seq = excluded.seq, scale = excluded.scale, vector = excluded.vector`
}

/** Removes the vectors of items that say nothing any more. */
export async function deleteVectors(
  sql: Sql,
  namespaceId: string,
  items: readonly string[],
): Promise<void> {
  await sql`
    delete from vectors
    where namespace_id = ${namespaceId} and item = any(${[...items]}::bigint[])`
}

/** Removes what another model has left. */
export async function deleteOtherModels(
  sql: Sql,
  namespaceId: string,
  model: string,
): Promise<void> {
  await sql`
    delete from vectors
    where namespace_id = ${namespaceId} and model <> ${model}`
}

export interface VectorRow {
  item: number
  seq: number
  scale: number
  vector: Buffer
}

/** Vectors of a model from batches after a number, oldest first; the last batch may be incomplete. */
export async function selectVectors(
  sql: Sql,
  from: { namespaceId: string; model: string; seq: number; item: number },
  limit: number,
): Promise<VectorRow[]> {
  return await sql<VectorRow[]>`
    select item::float8 as item, seq::float8 as seq, scale, vector
    from vectors
    where namespace_id = ${from.namespaceId}
      and (seq, item) > (${from.seq}, ${from.item})
      and model = ${from.model}
    order by seq, item
    limit ${limit}`
}
