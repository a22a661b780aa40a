import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { reason, StartError } from '#lib/start-error.ts'
import { isPgError, PG, transaction } from './sql.ts'
import type { Database, Sql } from './sql.ts'

/** Any constant works; it only has to be the same in every process of this product. */
const LOCK = 727_001

export interface MigrationFile {
  name: string
  text: string
  sha256: string
}

/**
 * Applies every `*.sql` file of `dir` not yet recorded, in name order, each in its own transaction, and
 * returns the names of those that this call applied. Safe to run from many processes at once: they wait
 * for each other file by file. Forward only: to undo a change, write the next migration.
 *
 * Throws a StartError, having changed nothing, when an applied file has changed since or the database has
 * a migration that `dir` lacks; and when a file fails, of which nothing is left.
 */
export async function migrate(db: Database, dir: string): Promise<string[]> {
  const files = await readMigrations(dir)
  const applied: string[] = []
  for (;;) {
    const name = await transaction(db, 'read write', (sql) => applyNext(sql, files)).catch(explain)
    if (name === undefined) return applied
    applied.push(name)
  }
}

/** An account of the application may read and write rows and no more, which the driver says in its own words. */
function explain(error: unknown): never {
  if (!isPgError(error, PG.insufficientPrivilege)) throw error
  throw new StartError(
    `Cannot migrate the database: its account may not change the schema (${reason(error)}); ` +
      'name an account that owns the tables',
    { cause: error },
  )
}

/** The migrations of a folder, in the order in which they are applied. */
export async function readMigrations(dir: string): Promise<MigrationFile[]> {
  const names = (await readdir(dir)).filter((name) => name.endsWith('.sql')).toSorted()
  return Promise.all(
    names.map(async (name) => {
      // A checkout on Windows may bring other line ends; they do not change what the file does.
      const text = (await readFile(join(dir, name), 'utf8')).replaceAll('\r\n', '\n')
      return { name, text, sha256: createHash('sha256').update(text).digest('hex') }
    }),
  )
}

/** Applies the first file that is missing; its lock ends with the transaction, also by a lost connection. */
async function applyNext(sql: Sql, files: readonly MigrationFile[]): Promise<string | undefined> {
  // A migration and the wait for another process may take longer than any query of ours.
  await sql`set local statement_timeout = 0`
  await sql`set local lock_timeout = 0`
  await sql`select pg_advisory_xact_lock(${LOCK})`
  await sql`
    create table if not exists schema_migrations (
      name text primary key,
      sha256 text not null,
      applied_at timestamptz not null default now()
    )`
  const done = await selectApplied(sql)
  checkHistory(done, files)
  const next = files.find((file) => !done.has(file.name))
  if (!next) return undefined
  await applyFile(sql, next)
  return next.name
}

/** Throws a StartError unless the database has exactly the migrations of `dir`. */
export async function checkMigrated(db: Database, dir: string): Promise<void> {
  const files = await readMigrations(dir)
  const { pending, unknown, changed } = await migrationState(db, files)
  if (unknown !== undefined) throw unknownMigration(unknown)
  if (changed !== undefined) throw changedMigration(changed)
  if (pending.length === 0) return
  throw new StartError(
    `Cannot start: the database lacks ${pending.length} migrations; run "strata migrate" first`,
  )
}

/** How the schema of a database compares with the migrations of this build. */
export interface MigrationState {
  applied: number
  /** Names of those that the database lacks, in order. */
  pending: string[]
  /** The first that the database has and this build does not know, if any. */
  unknown: string | undefined
  /** The first that is not what it was when it was applied, if any. */
  changed: string | undefined
}

export async function migrationState(
  sql: Sql,
  files: readonly MigrationFile[],
): Promise<MigrationState> {
  const [table] = await sql<{ exists: boolean }[]>`
    select to_regclass('schema_migrations') is not null as exists`
  const done = table?.exists ? await selectApplied(sql) : new Map<string, string>()
  return {
    applied: done.size,
    pending: files.filter(({ name }) => !done.has(name)).map(({ name }) => name),
    ...strangenessOf(done, files),
  }
}

async function selectApplied(sql: Sql): Promise<Map<string, string>> {
  const rows = await sql<{ name: string; sha256: string }[]>`
    select name, sha256
    from schema_migrations
    order by name`
  return new Map(rows.map((row) => [row.name, row.sha256]))
}

function checkHistory(done: ReadonlyMap<string, string>, files: readonly MigrationFile[]): void {
  const { unknown, changed } = strangenessOf(done, files)
  if (unknown !== undefined) throw unknownMigration(unknown)
  if (changed !== undefined) throw changedMigration(changed)
}

function strangenessOf(
  done: ReadonlyMap<string, string>,
  files: readonly MigrationFile[],
): Pick<MigrationState, 'unknown' | 'changed'> {
  const known = new Map(files.map((file) => [file.name, file.sha256]))
  const names = [...done.keys()]
  return {
    unknown: names.find((name) => !known.has(name)),
    changed: names.find((name) => known.has(name) && known.get(name) !== done.get(name)),
  }
}

function unknownMigration(name: string): StartError {
  return new StartError(
    `Cannot migrate the database: it has the migration "${name}", which this version does not know; ` +
      'start the version that made it, or a newer one',
  )
}

function changedMigration(name: string): StartError {
  return new StartError(
    `Cannot migrate the database: the migration "${name}" has changed since it was applied`,
  )
}

async function applyFile(sql: Sql, file: MigrationFile): Promise<void> {
  try {
    await sql.unsafe(file.text)
    await sql`
      insert into schema_migrations (name, sha256)
      values (${file.name}, ${file.sha256})`
  } catch (cause) {
    throw new StartError(`Cannot apply migration "${file.name}": ${reason(cause)}`, { cause })
  }
}
