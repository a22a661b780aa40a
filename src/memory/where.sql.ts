import type { Sql } from '#db/sql.ts'
import type { Test } from './where.ts'

/** The SQL form of `satisfies`, over a column of attributes as `jsonb`. */
export function satisfying(sql: Sql, tests: readonly Test[], column = 'properties') {
  if (tests.length === 0) return sql`true`
  const conditions = tests.map((test, index) =>
    index === 0 ? condition(sql, test, column) : sql`and ${condition(sql, test, column)}`,
  )
  return sql`(${conditions})`
}

function condition(sql: Sql, test: Test, column: string) {
  const value = sql`(${sql(column)} -> ${test.field}::text)`
  if (test.op === 'exists') {
    return sql`(coalesce(${value}, 'null') not in ('null', '[]')) = ${test.wanted}`
  }
  if (test.op === 'in') {
    return sql`
      exists (
        select 1
        from unnest(${test.values.map((one) => JSON.stringify(one))}::text[]) as wanted (value)
        where ${value} @> wanted.value::jsonb)`
  }
  return sql`
    exists (
      select 1
      from jsonb_array_elements(
        case jsonb_typeof(${value}) when 'array' then ${value} else jsonb_build_array(${value}) end
      ) as element (value)
      where ${elementCondition(sql, test)})`
}

function elementCondition(sql: Sql, test: Exclude<Test, { op: 'in' | 'exists' }>) {
  if (test.op === 'prefix') {
    return sql`
      jsonb_typeof(element.value) = 'string'
      and (element.value #>> '{}' = ${test.value}::text
        or starts_with(element.value #>> '{}', ${test.value}::text || '.'))`
  }
  const order = test.op === 'lte' ? sql`<=` : sql`>=`
  if (test.of === 'number') {
    return sql`
      case jsonb_typeof(element.value)
        when 'number' then element.value::numeric ${order} ${String(test.value)}::text::numeric
        else false
      end`
  }
  return sql`
    jsonb_typeof(element.value) = 'string'
    and ${momentOf(sql)} ${order} ${test.value}::text::timestamptz`
}

const MOMENT =
  '^([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[T ]([01][0-9]|2[0-3]):([0-5][0-9])' +
  '(?::([0-5][0-9])(?:[.,]([0-9]{1,6})[0-9]{0,3})?)?' +
  '(?:[Zz]|([+-])([01][0-9]|2[0-3]):?([0-5][0-9]))?)?$'

/** What `toUtcMicros` reads, null for what is no moment; no text makes it fail. */
function momentOf(sql: Sql) {
  return sql`(
    select case when utc >= '0001-01-01Z'::timestamptz and utc < '10000-01-01Z'::timestamptz then utc end
    from regexp_match(element.value #>> '{}', ${MOMENT}) as m
    cross join lateral (
      select case
        when m[1]::int > 0 and m[2]::int between 1 and 12 and m[3]::int between 1 and 31 then
          case when m[3]::int <= extract(day from
                 make_date(m[1]::int, m[2]::int, 1) + interval '1 month' - interval '1 day')
          then make_timestamptz(m[1]::int, m[2]::int, m[3]::int, coalesce(m[4], '0')::int,
                 coalesce(m[5], '0')::int,
                 (coalesce(m[6], '0') || '.' || coalesce(m[7], '0'))::float8, 'UTC')
               - case m[8] when '-' then -1 else 1 end
                 * make_interval(hours => coalesce(m[9], '0')::int, mins => coalesce(m[10], '0')::int)
          end
      end as utc
    ) as read
  )`
}
