import { setTimeout as sleep } from 'node:timers/promises'
import { reason, StartError } from '#lib/start-error.ts'
import type { Database, Sql } from './sql.ts'

const OLDEST = 15

/**
 * Refuses, in one sentence, a database that cannot be reached, is too old, or stands behind a pooler
 * that hands each statement to another session (session locks and LISTEN would silently do nothing).
 * `setting` is the variable that named the database; its value is never shown.
 */
export async function checkServer(db: Database, setting: string): Promise<void> {
  const connection = await connected(db).catch((cause: unknown) => {
    throw unreachable(setting, cause)
  })
  try {
    // Together: a reserved connection that is lost in between ends the process with the next query.
    const [[server], [later]] = await Promise.all([
      connection<{ version: number; pid: number }[]>`
        select current_setting('server_version_num')::int as version, pg_backend_pid() as pid`,
      connection<{ pid: number }[]>`select pg_backend_pid() as pid`,
    ])
    const major = Math.floor((server?.version ?? 0) / 10_000)
    if (major < OLDEST) {
      throw new StartError(
        `Cannot use the database of ${setting}: it is PostgreSQL ${major}, at least ${OLDEST} is needed`,
      )
    }
    if (later?.pid !== server?.pid) {
      throw new StartError(
        `Cannot use the database of ${setting}: a transaction pooler is in between; ` +
          'connect directly or through a session pooler',
      )
    }
  } catch (cause) {
    throw cause instanceof StartError ? cause : unreachable(setting, cause)
  } finally {
    connection.release()
  }
}

/** The driver asks again for ever where something closes the connection that does not speak its language. */
async function connected(db: Database) {
  const seconds = db.options.connect_timeout
  const end = new AbortController()
  const late = sleep(seconds * 1000, undefined, { signal: end.signal }).then(() => {
    throw new Error(`no PostgreSQL has answered there within ${seconds} s`)
  })
  late.catch(() => {})
  return await Promise.race([db.reserve(), late]).finally(() => end.abort())
}

function unreachable(setting: string, cause: unknown): StartError {
  return new StartError(`Cannot reach the database of ${setting}: ${reason(cause)}`, { cause })
}

export interface ServerState {
  /** Such as `18.4`. */
  version: string
  /** A standby, or a server that is kept from writing. */
  isReadOnly: boolean
}

/** Asks a server that we are connected to how it is. */
export async function selectServerState(sql: Sql): Promise<ServerState> {
  const [row] = await sql<{ version: number; isReadOnly: boolean }[]>`
    select current_setting('server_version_num')::int as version,
           pg_is_in_recovery() or current_setting('transaction_read_only') = 'on' as is_read_only`
  const version = row?.version ?? 0
  return {
    version: `${Math.floor(version / 10_000)}.${version % 10_000}`,
    isReadOnly: row?.isReadOnly ?? true,
  }
}
