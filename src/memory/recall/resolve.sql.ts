import type { Sql } from '#db/sql.ts'
import type { Reader } from './reader.ts'
import { readable } from './reader.sql.ts'

export type ResolvedBy = 'key' | 'alias' | 'placeholder' | 'suffix'

export interface ResolvedRow {
  /** Place of the name in the list asked for. */
  place: number
  by: ResolvedBy
  item: string
  key: string
}

const PER_STEP = 10

/**
 * Entities that the names stand for, by every way a name can match; which way counts is the caller's
 * choice. Names are compared, never interpreted: `_` and `%` are letters like others. Needs
 * `nodes_by_key`, `nodes_by_alias` and `nodes_by_end`.
 */
export async function selectResolved(
  sql: Sql,
  namespaceId: string,
  reader: Reader,
  names: readonly string[],
): Promise<ResolvedRow[]> {
  const step = (by: ResolvedBy, condition: ReturnType<typeof readable>) => sql`
    select name.place::int, ${by}::text as by, node.item, node.key
    from name
    cross join lateral (
      select item, key
      from nodes
      where namespace_id = ${namespaceId}
        and ${condition}
        and ${readable(sql, reader, 'valid_from')}
      order by key
      limit ${PER_STEP + 1}
    ) as node`
  return await sql<ResolvedRow[]>`
    with name as ( /* asked of one namespace */
      select value, normal, tail, place
      from unnest(
        ${[...names]}::text[],
        ${names.map(placeholders)}::text[],
        ${names.map((name) => (name.length >= MIN_SUFFIX ? reversed(name) : ''))}::text[]
      ) with ordinality as given (value, normal, tail, place)
    )
    ${step('key', sql`key = name.value`)}
    union all
    ${step('alias', sql`aliases <> '{}' and aliases @> array[name.value]`)}
    union all
    ${step('placeholder', sql`name.normal <> name.value and key = name.normal`)}
    union all
    ${step('suffix', endsWith(sql))}`
}

const MIN_SUFFIX = 4

/** The key ends with the name, after a blank, a dot, a colon or a slash. */
function endsWith(sql: Sql) {
  return sql`
    name.tail <> ''
    and reverse(key) collate "C" >= name.tail
    and reverse(key) collate "C" < name.tail || U&'\\+10FFFF'
    and starts_with(reverse(key), name.tail)
    and substr(reverse(key), length(name.tail) + 1, 1) in (' ', '.', ':', '/')`
}

/** `/users/{id}` and `/users/{userId}` name one endpoint: the placeholder's name is left out. */
function placeholders(name: string): string {
  return name.replaceAll(/\{[^{}]*\}/gu, '{}')
}

function reversed(name: string): string {
  return Array.from(name).toReversed().join('')
}
