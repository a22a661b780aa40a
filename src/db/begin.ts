import { setTimeout as sleep } from 'node:timers/promises'
import { isConnectionLoss } from './connection-loss.ts'
import { isQuery, whenRun } from './query.ts'
import type { Query } from './query.ts'
import type { Database, Sql } from './sql.ts'

/** The driver's connection, as far as its own transactions have to do with it; it is in no typings. */
interface Connection {
  /** Sends a query; false when nothing may be sent behind it. */
  execute: (query: Query) => boolean
  /** Set, the connection is ours until no transaction is open on it; called when everything has been answered. */
  reserved: (() => void) | null
  onclose: ((error: unknown) => void) | null
}

/** What a transaction knows of its connection. */
interface Line {
  send: (query: Query) => void
  /** Why it is lost; nothing may be sent any more. */
  loss: unknown
  lost: Promise<never>
  /** The first failure of a statement, also of one that the work passed over. */
  failure: unknown
}

/**
 * Runs a transaction whose first statements travel along with `begin`, whose answer the driver's own
 * transactions wait for. Commits when `work` returns, rolls back when it throws; throws also when a statement failed
 * and the work passed that over, as nothing can be committed then. Calls `onBegun` once the server has begun;
 * what is thrown before has changed nothing.
 *
 * When the connection is lost it rejects at once and sends nothing more: the driver would write to a socket that is
 * no more, and the process would end by an uncaught exception.
 */
export async function beginAlong(
  db: Database,
  mode: string,
  work: (sql: Sql) => Promise<unknown>,
  onBegun: () => void,
): Promise<unknown> {
  const taken = Promise.withResolvers<Connection>()
  const onexecute = (connection: Connection) => {
    // Takes the connection out of the pool.
    connection.reserved = () => {}
    taken.resolve(connection)
  }
  const begun = db.unsafe(`begin ${mode}`, [], { onexecute } as object).execute()
  const line = lineOver(await Promise.race([taken.promise, begun.then(missed)]))
  begun.then(onBegun, () => {})
  const sql = scope(db, line)
  const done = finish(sql, line, async () => (await Promise.all([work(sql), begun]))[0])
  return await Promise.race([done, line.lost])
}

function missed(): never {
  throw new Error('the driver began a transaction and did not say where')
}

function lineOver(connection: Connection): Line {
  const waiting: Query[] = []
  const { promise: lost, reject } = Promise.withResolvers<never>()
  lost.catch(() => {})
  let isFree = true
  const pump = () => {
    isFree = true
    while (isFree) {
      const query = waiting.shift()
      if (!query) return
      isFree = connection.execute(query)
    }
  }
  const line: Line = {
    send(query) {
      if (line.loss !== undefined) return query.reject(line.loss)
      waiting.push(query)
      if (isFree) pump()
    },
    loss: undefined,
    lost,
    failure: undefined,
  }
  const onclose = (error: unknown) => {
    line.loss = error
    reject(error)
    for (const query of waiting.splice(0)) query.reject(error)
  }
  Object.assign(connection, { reserved: pump, onclose })
  return line
}

/** The database as its transaction on this connection sees it. */
function scope(db: Database, line: Line): Sql {
  const adopt = (made: unknown) => {
    if (!isQuery(made)) return made
    made.handler = line.send
    whenRun(made, (outcome) => {
      outcome.catch((error: unknown) => (line.failure ??= error))
    })
    return made
  }
  const unsafe = (...input: Parameters<Database['unsafe']>) => adopt(db.unsafe(...input))
  return new Proxy(db, {
    apply: (target, self, input) =>
      adopt(Reflect.apply<unknown, unknown[], unknown>(target as never, self, input)),
    get: (target, name) => (name === 'unsafe' ? unsafe : (Reflect.get(target, name) as unknown)),
  })
}

async function finish(sql: Sql, line: Line, work: () => Promise<unknown>): Promise<unknown> {
  try {
    const result = await work()
    if (line.failure !== undefined) throw line.failure
    await sql`commit`
    return result
  } catch (error) {
    // The driver notices within a moment that a connection is gone; if it does not, the loss was another's.
    if (isConnectionLoss(error)) await Promise.race([line.lost, sleep(GRACE_MS)])
    if (line.loss === undefined) await sql`rollback`
    throw isAborted(error) ? (line.failure ?? error) : error
  }
}

const GRACE_MS = 500

/** True of what every statement is answered after the one that failed. */
function isAborted(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '25P02'
}
