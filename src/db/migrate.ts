import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reason, StartError } from '#lib/start-error.ts'
import type { Database, Sql } from './sql.ts'

/** Any constant works; it only has to be the same in every process of this product. */
const LOCK = 727_001

type Connection = Awaited<ReturnType<Database['reserve']>>

interface MigrationFile {
  name: string
  text: string
  sha256: string
}

/**
 * Applies every `*.sql` file of `dir` not yet recorded, in name order, each in its own transaction, and
 * returns their names. Safe to run from many processes at once: the rest wait on the lock, then find
 * nothing to do. Forward only: to undo a change, write the next migration.
 *
 * Throws a StartError, having changed nothing, when an applied file has changed since or the database has
 * a migration that `dir` lacks; and when a file fails, of which nothing is left.
 */
export async function migrate(db: Database, dir: string): Promise<string[]> {
  const files = await readMigrations(dir)
  const connection = await db.reserve()
  try {
    // A migration and the wait for another process may take longer than any query of ours.
    await connection`set statement_timeout = 0`
    await connection`set lock_timeout = 0`
    await connection`select pg_advisory_lock(${LOCK})`
    return await applyMissing(connection, files)
  } finally {
    await connection`select pg_advisory_unlock_all()`
    await connection`reset statement_timeout`
    await connection`reset lock_timeout`
    connection.release()
  }
}

async function readMigrations(dir: string): Promise<MigrationFile[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.sql')).toSorted()
  return Promise.all(
    names.map(async (name) => {
      // A checkout on Windows may bring other line ends; they do not change what the file does.
      const text = (await readFile(join(dir, name), 'utf8')).replaceAll('\r\n', '\n')
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

async function applyMissing(
  connection: Connection,
  files: readonly MigrationFile[],
): Promise<string[]> {
  await connection`
    create table if not exists schema_migrations (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now()
    )`
  const done = await selectApplied(connection)
  checkHistory(done, files)
  const applied = []
  for (const file of files) {
    if (done.has(file.name)) continue
    await applyFile(connection, file)
    applied.push(file.name)
  }
  return applied
}

/** Throws a StartError unless the database has exactly the migrations of `dir`. */
export async function checkMigrated(db: Database, dir: string): Promise<void> {
  const files = await readMigrations(dir)
  const [table] = await db<{ exists: boolean }[]>`
    select to_regclass('schema_migrations') is not null as exists`
  const done = table?.exists ? await selectApplied(db) : new Map<string, string>()
  checkHistory(done, files)
  const missing = files.filter((file) => !done.has(file.name))
  if (missing.length === 0) return
  throw new StartError(
    `Cannot start: the database lacks ${missing.length} migrations; run "strata migrate" first`,
  )
}

async function selectApplied(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; sha256: string }[]>`
    select name, sha256
    from schema_migrations
    order by name`
  return new Map(rows.map((row) => [row.name, row.sha256]))
}

function checkHistory(done: ReadonlyMap<string, string>, files: readonly MigrationFile[]): void {
  const known = new Map(files.map((file) => [file.name, file.sha256]))
  for (const [name, sha256] of done) {
    if (!known.has(name)) {
      throw new StartError(
        `Cannot migrate the database: it has the migration "${name}", which this version does not know; ` +
          'start the version that made it, or a newer one',
      )
    }
    if (known.get(name) !== sha256) {
      throw new StartError(
        `Cannot migrate the database: the migration "${name}" has changed since it was applied`,
      )
    }
  }
}

async function applyFile(connection: Connection, file: MigrationFile): Promise<void> {
  try {
    await connection`begin`
    await connection.unsafe(file.text)
    await connection`
      insert into schema_migrations (name, sha256)
      values (${file.name}, ${file.sha256})`
    await connection`commit`
  } catch (cause) {
    await connection`rollback`
    throw new StartError(`Cannot apply migration "${file.name}": ${reason(cause)}`, { cause })
  }
}
