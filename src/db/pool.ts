import { isQuery, whenRun } from './query.ts'
import type { Database } from './sql.ts'

/** What a pool tells whoever watches it. */
export interface PoolObserver {
  /** A transaction got its connection after this wait. */
  acquired: (seconds: number) => void
  /** Stands around a transaction: runs what it is handed, once, and hands on what comes of it. */
  transaction: <T>(mode: string, run: () => Promise<T>) => Promise<T>
}

/** How much is asked of a pool at the moment. */
export interface Pool {
  readonly observer: PoolObserver
  /** The same database without the watch. */
  readonly db: Database
  /** Connections at most. */
  readonly max: number
  /**
   * Transactions and single queries under way, those that wait for a connection included. Each takes a
   * connection as long as there is one, so what exceeds `max` waits.
   */
  demand: number
}

const POOL = Symbol('pool')
type Watched = Database & { [POOL]?: Pool }

/** The watched pool behind a database, if it is watched. */
export function poolOf(db: Database): Pool | undefined {
  return (db as Watched)[POOL]
}

/** The same database, whose pool can be asked how it is. */
export function watchPool(db: Database, observer: PoolObserver): Database {
  const pool: Pool = { observer, db, max: db.options.max, demand: 0 }
  return new Proxy(db, {
    apply(target, self, input) {
      const query = Reflect.apply<unknown, unknown[], unknown>(target as never, self, input)
      if (isQuery(query)) whenRun(query, (outcome) => countWhileRunning(pool, outcome))
      return query
    },
    get: (target, name) => (name === POOL ? pool : Reflect.get(target, name)),
  })
}

/** Counts a query among the demand as long as it runs. */
function countWhileRunning(pool: Pool, outcome: Promise<unknown>): void {
  pool.demand += 1
  const leave = () => void (pool.demand -= 1)
  void outcome.then(leave, leave)
}
