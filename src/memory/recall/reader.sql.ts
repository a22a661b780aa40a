import type { Sql } from '#db/sql.ts'
import type { Audience } from '../visibility.ts'
import type { Reader, Relevance } from './reader.ts'

/**
 * The condition every read carries before its limit: seen by the reader, true at the moment asked
 * about, relevant. It stands for columns `starts_at` (or another start given), `valid_to`,
 * `ingested_at`, `closed_at`, `retired_at`, `scopes` and `audience` of one table or view.
 */
export function readable(sql: Sql, reader: Reader, start = 'starts_at') {
  return sql`
    ${visibleTo(sql, reader.audience)}
    and ${relevantTo(sql, reader.relevance)}
    and ${trueAt(sql, reader, start)}`
}

/** The SQL form of `isVisible`. */
export function visibleTo(sql: Sql, audience: Audience) {
  if (audience.all) return sql`true`
  const everyWorkspace = audience.everyWorkspace
    ? sql`or starts_with(audience[1], 'workspace:')`
    : sql``
  const unplaced = audience.unplaced ? sql`audience = '{}' or` : sql``
  return sql`(${unplaced} audience && ${audience.scopes}::text[] ${everyWorkspace})`
}

function relevantTo(sql: Sql, relevance: Relevance) {
  if (relevance.filter === 'none') return sql`true`
  const { scopes } = relevance
  return relevance.filter === 'placed'
    ? sql`(audience = '{}' or scopes && ${[...scopes]}::text[])`
    : sql`(scopes = '{}' or scopes && ${[...scopes]}::text[])`
}

/** True at `asOf` as known at `knownAt`; the moment of the statement by the database's clock is now. */
export function trueAt(sql: Sql, { asOf, knownAt }: Reader, start = 'starts_at') {
  return sql`
    ${begunAt(sql, { asOf, knownAt }, start)}
    and (valid_to is null or valid_to > ${moment(sql, asOf)} ${learntLater(sql, knownAt)})`
}

/** The same without the end: what has begun, ended or not. */
export function begunAt(
  sql: Sql,
  { asOf, knownAt }: Pick<Reader, 'asOf' | 'knownAt'>,
  start = 'starts_at',
) {
  return sql`
    ${sql(start)} <= ${moment(sql, asOf)}
    and ${knownAt === null ? sql`retired_at is null` : knownThen(sql, knownAt)}`
}

function knownThen(sql: Sql, knownAt: string) {
  return sql`ingested_at <= ${instant(sql, knownAt)}
    and (retired_at is null or retired_at > ${instant(sql, knownAt)})`
}

function learntLater(sql: Sql, knownAt: string | null) {
  return knownAt === null ? sql`` : sql`or closed_at > ${instant(sql, knownAt)}`
}

function moment(sql: Sql, at: string | null) {
  return at === null ? sql`statement_timestamp()` : instant(sql, at)
}

/** Through text: as a date the driver would round it to milliseconds. */
function instant(sql: Sql, at: string) {
  return sql`${at}::text::timestamptz`
}
