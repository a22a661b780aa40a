import type { Sql } from '#db/sql.ts'

/** How far a namespace is embedded. */
export interface Progress {
  /** Whether everything there is is being read for the first time. */
  reading: boolean
  /** Changes up to here are embedded, once that is over. */
  version: number
  /** How far the reading has come, or the next version when that is of many items; else 0. */
  afterItem: number
}

/** A namespace of which something is not embedded yet, held by one process for a while. */
export interface Due extends Progress {
  namespaceId: string
  lease: string
  /** What the namespace has come to meanwhile. */
  newest: number
}

/**
 * Takes the namespace that has waited longest for vectors of a model, with a lease of so many seconds;
 * undefined when there is none. A namespace that has vectors of another model begins anew.
 */
export async function leaseNamespace(
  sql: Sql,
  model: string,
  lease: { id: string; seconds: number },
): Promise<Due | undefined> {
  const [row] = await sql<Due[]>`
    with due as (
      select n.id, n.version
      from namespaces n
      left join vector_progress p on p.namespace_id = n.id
      where n.version > 0
        and (p.namespace_id is null or p.model <> ${model} or p.reading or p.version < n.version)
        and coalesce(p.leased_until, '-infinity') < clock_timestamp()
      order by p.leased_until nulls first, n.id
      limit 1
    )
    insert into vector_progress as p
      (namespace_id, model, reading, version, after_item, lease, leased_until)
    select id, ${model}, true, version, 0, ${lease.id}::uuid,
           clock_timestamp() + make_interval(secs => ${lease.seconds})
    from due /* namespace */
    on conflict (namespace_id) do update
    set model = excluded.model,
        reading = p.reading or p.model <> excluded.model,
        version = case when p.model = excluded.model then p.version else excluded.version end,
        after_item = case when p.model = excluded.model then p.after_item else 0 end,
        lease = excluded.lease,
        leased_until = excluded.leased_until
    where p.leased_until < clock_timestamp()
    returning namespace_id, lease, reading, version::float8 as version,
              after_item::float8 as after_item,
              (select version from due)::float8 as newest`
  return row
}

/**
 * Notes how far the holder of a lease has come and gives the lease back; answers the number of the batch, or
 * undefined when the lease has gone to somebody else, and then nothing is noted.
 */
export async function noteProgress(
  sql: Sql,
  { namespaceId, lease }: Pick<Due, 'namespaceId' | 'lease'>,
  { reading, version, afterItem }: Progress,
): Promise<number | undefined> {
  const [row] = await sql<{ seq: number }[]>`
    update vector_progress
    set reading = ${reading}, version = ${version}, after_item = ${afterItem}, seq = seq + 1,
        lease = null, leased_until = clock_timestamp()
    where namespace_id = ${namespaceId} and lease = ${lease}::uuid
    returning seq::float8 as seq`
  return row?.seq
}

/** Lets the namespace wait so long before anybody tries again. */
export async function postpone(
  sql: Sql,
  { namespaceId, lease }: Pick<Due, 'namespaceId' | 'lease'>,
  seconds: number,
): Promise<void> {
  await sql`
    update vector_progress
    set lease = null, leased_until = clock_timestamp() + make_interval(secs => ${seconds})
    where namespace_id = ${namespaceId} and lease = ${lease}::uuid`
}
