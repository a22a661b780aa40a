import type { Sql } from '#db/sql.ts'
import type { Reader } from '../recall/reader.ts'
import { begunAt, trueAt, visibleTo } from '../recall/reader.sql.ts'
import type { ItemKind } from '../recall/item.ts'

/** One version of something that a reader may see, whatever the moment; moments have six digits. */
export interface VersionRow {
  namespaceId: string
  item: string
  scopes: string[]
  startsAt: string
  validTo: string | null
  ingestedAt: string
  supersededBy: string | null
  /** Whether it had been learnt at the moment of knowledge asked about. */
  isKnown: boolean
  /** Whether it is true at the moments asked about. */
  isTrue: boolean
}

export interface VersionQuery {
  namespaceIds: readonly string[]
  reader: Reader
  kind: ItemKind
  /** The id without what tells its kind. */
  name: string
}

const TABLE = {
  observation: 'observations',
  chunk: 'chunks',
  fact: 'edges',
  entity: 'nodes',
} as const
const START = {
  observation: 'occurred_at',
  chunk: 'valid_from',
  fact: 'starts_at',
  entity: 'valid_from',
} as const
const MAX_VERSIONS = 50

/** The versions of one thing, those that hold first, then the newest. */
export async function selectVersions(sql: Sql, query: VersionQuery): Promise<VersionRow[]> {
  const { namespaceIds, reader, kind } = query
  const start = START[kind]
  const hasSuccessor = kind === 'observation' || kind === 'fact'
  return await sql<VersionRow[]>`
    select namespace_id, item, scopes, ${micros(sql, start)} as starts_at,
           ${micros(sql, 'valid_to')} as valid_to, ${micros(sql, 'ingested_at')} as ingested_at,
           ${hasSuccessor ? sql`superseded_by` : sql`null`} as superseded_by,
           coalesce(${isKnown(sql, reader)}, false) as is_known,
           coalesce(${trueAt(sql, reader, start)}, false) as is_true
    from ${sql(TABLE[kind])}
    where namespace_id = any(${[...namespaceIds]}::bigint[])
      and ${named(sql, query)}
      and ${visibleTo(sql, reader.audience)}
    order by is_true desc, is_known desc, ${sql(start)} desc, item desc
    limit ${MAX_VERSIONS}`
}

/** What was learnt by then, true or not: it begins at the end of time at the latest. */
function isKnown(sql: Sql, { knownAt }: Reader) {
  return begunAt(sql, { asOf: '9999-12-31T23:59:59.999999Z', knownAt }, 'ingested_at')
}

function named(sql: Sql, { kind, name }: VersionQuery) {
  if (kind === 'observation') return sql`observation_id = ${name}`
  if (kind === 'fact') return sql`fact_id = ${name}`
  return kind === 'entity' ? sql`key = ${name}` : sql`item = ${name}`
}

function micros(sql: Sql, column: string) {
  return sql`to_char(${sql(column)} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`
}
