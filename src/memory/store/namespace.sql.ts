import type { Sql } from '#db/sql.ts'

/** The kinds of item, as the change log and the statistics name them. */
export const ITEM_KINDS = ['observation', 'chunk', 'node', 'edge'] as const
export type StoredKind = (typeof ITEM_KINDS)[number]

export interface NamespaceRow {
  /** First part of every key and salt of every term. */
  id: string
  version: number
  lastItem: number
  /** The database's clock once the row was ours, six digits of a second. */
  now: string
}

export async function selectNamespaceId(sql: Sql, namespace: string): Promise<string | undefined> {
  const [row] = await sql<{ id: string }[]>`
    select id
    from namespaces
    where namespace = ${namespace}`
  return row?.id
}

export async function insertNamespace(sql: Sql, namespace: string): Promise<void> {
  await sql`
    insert into namespaces (namespace)
    values (${namespace})
    on conflict (namespace) do nothing`
}

/** Makes this transaction the only writer of the namespace until it ends. */
export async function lockNamespace(sql: Sql, namespace: string): Promise<NamespaceRow> {
  const [row] = await sql<NamespaceRow[]>`
    select id, version::float8 as version, last_item::float8 as last_item
    from namespaces
    where namespace = ${namespace}
    for update`
  if (!row) throw new Error('A namespace disappeared while it was being written')
  const [clock] = await sql<{ now: string }[]>`
    select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now /* namespace */`
  return { ...row, now: clock?.now ?? '' }
}

export async function updateNamespace(
  sql: Sql,
  { id, version, lastItem }: Omit<NamespaceRow, 'now'>,
): Promise<void> {
  await sql`
    update namespaces
    set version = ${version}, last_item = ${lastItem}
    where id = ${id} /* namespace */`
}

export interface KindChange {
  kind: StoredKind
  items: number[]
  /** By how much the open items and their words grew. */
  itemsDelta: number
  wordsDelta: number
}

/** One row a kind, so the log costs the same whether one item or a thousand changed. */
export async function insertChanges(
  sql: Sql,
  { id, version }: Pick<NamespaceRow, 'id' | 'version'>,
  changes: readonly KindChange[],
): Promise<void> {
  const rows = changes.map((change) => ({ ...change, items: `{${change.items.join(',')}}` }))
  await sql`
    with changed as (
      select r.kind, r.items::bigint[] as items, r."itemsDelta" as items_delta,
             r."wordsDelta" as words_delta
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as r (kind text, items text, "itemsDelta" bigint, "wordsDelta" bigint)
    ), logged as (
      insert into changes (namespace_id, version, kind, items)
      select ${id}, ${version}, kind, items
      from changed
    )
    insert into namespace_stats (namespace_id, kind, items, words)
    select ${id}, kind, items_delta, words_delta
    from changed
    on conflict (namespace_id, kind) do update
    set items = namespace_stats.items + excluded.items,
        words = namespace_stats.words + excluded.words`
}

/**
 * Shortens the log of a namespace to its newest rows, so many that they and the items they name are at most
 * `keep`; the version given stays. Whoever is of an older version than the first that is left reads everything
 * anew, which costs less than so many changes.
 */
export async function deleteOldChanges(
  sql: Sql,
  namespaceId: string,
  { version, keep }: { version: number; keep: number },
): Promise<void> {
  await sql`
    delete from changes
    where namespace_id = ${namespaceId}
      and version <= (
        select max(logged.version)
        from (
          select version, sum(1 + cardinality(items)) over (order by version desc) as since
          from changes
          where namespace_id = ${namespaceId}
        ) as logged
        where logged.since > ${keep} and logged.version < ${version}
      )`
}

/** What the health page tells: open nodes and chunks of all namespaces together. */
export async function selectTotals(sql: Sql): Promise<{ nodes: number; chunks: number }> {
  const [row] = await sql<{ nodes: number; chunks: number }[]>`
    select coalesce(sum(items) filter (where kind = 'node'), 0)::float8 as nodes,
           coalesce(sum(items) filter (where kind = 'chunk'), 0)::float8 as chunks
    from namespace_stats`
  return { nodes: row?.nodes ?? 0, chunks: row?.chunks ?? 0 }
}

export interface NamespaceSizes {
  namespace: string
  observations: number
  chunks: number
  nodes: number
  edges: number
}

/** Open items of the largest namespaces, most first. */
export async function selectLargest(sql: Sql, limit: number): Promise<NamespaceSizes[]> {
  return await sql<NamespaceSizes[]>`
    select n.namespace, ${sizes(sql)}
    from namespaces as n
    join namespace_stats as s on s.namespace_id = n.id
    group by n.namespace
    order by sum(s.items) desc, n.namespace
    limit ${limit}`
}

/** How many namespaces there are, and the open items of all together. */
export async function selectSizes(
  sql: Sql,
): Promise<Omit<NamespaceSizes, 'namespace'> & { namespaces: number }> {
  const [row] = await sql<(Omit<NamespaceSizes, 'namespace'> & { namespaces: number })[]>`
    select (select count(*) from namespaces)::float8 as namespaces, ${sizes(sql)}
    from namespace_stats as s`
  if (!row) throw new Error('A sum has no row')
  return row
}

function sizes(sql: Sql) {
  const of = (kind: StoredKind) =>
    sql`coalesce(sum(s.items) filter (where s.kind = ${kind}), 0)::float8`
  return sql`
    ${of('observation')} as observations, ${of('chunk')} as chunks,
    ${of('node')} as nodes, ${of('edge')} as edges`
}
