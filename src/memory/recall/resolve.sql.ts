import type { Sql } from '#db/sql.ts'
import type { Reader } from './reader.ts'
import { readable } from './reader.sql.ts'

export type ResolvedBy = 'key' | 'alias' | 'placeholder' | 'suffix'

/** A name that may stand for an entity; `kind` keeps to entities of that kind. */
export interface Name {
  value: string
  kind: string | null
}

export interface NameQuery {
  namespaceIds: readonly string[]
  reader: Reader
  names: readonly Name[]
  /** For each name, way and namespace at most this many. */
  limit: number
}

export interface ResolvedRow {
  /** Place of the name in the list asked for, from 0. */
  place: number
  by: ResolvedBy
  namespaceId: string
  item: string
  key: string
}

type Fragment = ReturnType<typeof readable>

/**
 * Entities that the names stand for, by every way a name can match; which way counts is the caller's
 * choice. One statement for all names and namespaces. Names are compared, never interpreted: `_` and `%`
 * are letters like others. Needs `nodes_by_key`, `nodes_by_alias`, `nodes_by_template`, `nodes_by_end`.
 *
 * @param columns what to read of each entity besides
 */
export async function selectResolved<Row extends object = object>(
  sql: Sql,
  { namespaceIds, reader, names, limit }: NameQuery,
  columns: Fragment = sql`item, key`,
): Promise<(ResolvedRow & Row)[]> {
  const step = (by: ResolvedBy, condition: Fragment) => sql`
    select name.place::int - 1 as place, ${by}::text as by, space.namespace_id, node.*
    from name
    cross join unnest(${[...namespaceIds]}::bigint[]) as space (namespace_id)
    cross join lateral (
      select ${columns}
      from nodes
      where namespace_id = space.namespace_id
        and ${condition}
        and (name.kind is null or kind = name.kind)
        and ${readable(sql, reader, 'valid_from')}
      order by key || '', kind, item
      limit ${limit}
    ) as node`
  return await sql<(ResolvedRow & Row)[]>`
    with name as ( /* asked of some namespaces */
      select value, kind, template, tail, place
      from unnest(
        ${names.map(({ value }) => value)}::text[],
        ${names.map(({ kind }) => kind)}::text[],
        ${names.map(({ value }) => templateOf(value))}::text[],
        ${names.map(({ value }) => (value.length >= MIN_SUFFIX ? reversed(value) : ''))}::text[]
      ) with ordinality as given (value, kind, template, tail, place)
    )
    ${step('key', sql`key in (name.value, name.kind || ':' || name.value)`)}
    union all
    ${step('alias', sql`aliases <> '{}' and aliases @> array[name.value]`)}
    union all
    ${step('placeholder', ofTemplate(sql))}
    union all
    ${step('suffix', endsWith(sql))}`
}

const MIN_SUFFIX = 4

/** The key is the name but for what its placeholders are called. */
function ofTemplate(sql: Sql) {
  return sql`
    name.template <> ''
    and strpos(key, '{') > 0
    and regexp_replace(key, '[{][^{}]*[}]', '{}', 'g') = name.template
    and key <> name.value`
}

/** The key ends with the name, after a blank, a dot, a colon or a slash. */
function endsWith(sql: Sql) {
  return sql`
    name.tail <> ''
    and reverse(key) collate "C" >= name.tail
    and reverse(key) collate "C" < name.tail || U&'\\+10FFFF'
    and starts_with(reverse(key), name.tail)
    and substr(reverse(key), length(name.tail) + 1, 1) in (' ', '.', ':', '/')`
}

/** `/users/{id}` and `/users/{userId}` name one endpoint; empty for a name without placeholders. */
function templateOf(name: string): string {
  return /\{[^{}]*\}/u.test(name) ? name.replaceAll(/\{[^{}]*\}/gu, '{}') : ''
}

function reversed(name: string): string {
  return Array.from(name).toReversed().join('')
}
