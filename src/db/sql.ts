import postgres from 'postgres'
import { beginAlong } from './begin.ts'
import { surviveLoss } from './connection-loss.ts'
import { readDatabaseUrl, refused } from './address.ts'
import { poolOf, watchPool } from './pool.ts'
import type { PoolObserver } from './pool.ts'

/**
 * What query functions take: the pool or an open transaction, so they compose into either.
 * A query runs only when awaited. Values in the template are always parameters, never text.
 */
export type Sql = postgres.ISql<Record<string, never>>

export type Database = postgres.Sql<Record<string, never>>

/** Where a database is: a URL the operator gave, or the folder of a Unix socket of our own server. */
export type DatabaseAddress =
  | { url: string }
  | { socket: string; port: number; user: string; password: string; database: string }

export interface ConnectOptions {
  maxConnections: number
  /** Shown in `pg_stat_activity`. */
  appName: string
  statementTimeoutMs?: number
  /** True keeps a connection as long as it lasts; else one that is old is exchanged for a new one. */
  lasting?: boolean
  /** Told how the pool is used. */
  observer?: PoolObserver | undefined
}

/**
 * Opens a pool; the first connection is made by the first query. Rows come back with camelCase keys;
 * SQL text stays snake_case. `bigint` columns come back as strings. Throws a StartError for a URL that
 * cannot be used; what the URL's query says (`?host=`) is applied or refused, never ignored.
 */
export function connect(address: DatabaseAddress, options: ConnectOptions): Database {
  const db = open(address, options)
  return options.observer ? watchPool(db, options.observer) : db
}

function open(address: DatabaseAddress, options: ConnectOptions): Database {
  const settings = {
    max: options.maxConnections,
    connect_timeout: CONNECT_SECONDS,
    ...(options.lasting === true && { max_lifetime: null }),
    transform: { column: { from: postgres.toCamel } },
    connection: {
      application_name: options.appName,
      statement_timeout: options.statementTimeoutMs ?? 15_000,
      lock_timeout: 10_000,
      idle_in_transaction_session_timeout: 15_000,
    },
    onnotice: () => {},
  }
  if ('url' in address) return withExactMoments(connectUrl(address.url, settings))
  const { socket, port, user, password, database } = address
  return withExactMoments(postgres({ ...settings, host: socket, port, user, password, database }))
}

/** A moment given as text is sent as it is: the driver would round it to milliseconds. */
function withExactMoments(db: Database): Database {
  for (const type of MOMENT_TYPES) db.options.serializers[type] = momentText
  return db
}

function momentText(value: string | number | Date): string {
  return typeof value === 'string' ? value : new Date(value).toISOString()
}

/** Ids of `date`, `timestamp` and `timestamptz`. */
const MOMENT_TYPES = [1082, 1114, 1184]

/** How long a server may take to let us in, unless its URL says otherwise. */
const CONNECT_SECONDS = 10

function connectUrl(text: string, settings: object): Database {
  const { url, overrides } = readDatabaseUrl(text)
  try {
    return postgres(url, { ...settings, ...overrides })
  } catch {
    throw refused('it must look like postgres://user:password@host:5432/database')
  }
}

/** How a transaction sees the database; `snapshot` is one consistent read-only view. */
export type TransactionMode = 'read write' | 'read only' | 'snapshot'

const MODES = {
  'read write': 'read write',
  'read only': 'read only',
  snapshot: 'isolation level repeatable read read only',
} as const satisfies Record<TransactionMode, string>

/** Opens transactions for somebody who has no pool to go round them. */
export type Transact = <T>(mode: TransactionMode, work: (sql: Sql) => Promise<T>) => Promise<T>

/** Commits when `work` returns, rolls back when it throws; a lost connection is an error like others. */
export async function transaction<T>(
  db: Database,
  mode: TransactionMode,
  work: (sql: Sql) => Promise<T>,
): Promise<T> {
  const pool = poolOf(db)
  const begin = (run: (sql: Sql) => Promise<unknown>) =>
    surviveLoss((onBegun) => beginAlong(pool?.db ?? db, MODES[mode], run, onBegun))
  if (!pool) return (await begin(work)) as T
  return await pool.observer.transaction(mode, async () => {
    const start = performance.now()
    pool.demand += 1
    try {
      return (await begin(async (sql) => {
        pool.observer.acquired((performance.now() - start) / 1000)
        return await work(sql)
      })) as T
    } finally {
      pool.demand -= 1
    }
  })
}

/** Postgres error codes we react to. Source: PostgreSQL docs, appendix A. */
export const PG = {
  uniqueViolation: '23505',
  foreignKeyViolation: '23503',
  lockNotAvailable: '55P03',
  insufficientPrivilege: '42501',
} as const

export function isPgError(error: unknown, code: string, constraint?: string): boolean {
  return (
    error instanceof postgres.PostgresError &&
    error.code === code &&
    (constraint === undefined || error.constraint_name === constraint)
  )
}
