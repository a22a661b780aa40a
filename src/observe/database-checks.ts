import { selectServerState } from '#db/check-server.ts'
import { migrationState } from '#db/migrate.ts'
import type { MigrationFile } from '#db/migrate.ts'
import type { Database } from '#db/sql.ts'
import { selectJournalState } from '#events/journal-guard.ts'
import type { Finding } from './health.ts'

/** The database answers, can be written to, and has exactly the schema of this build, as its files say. */
export function databaseCheck(
  db: Database,
  readFiles: () => Promise<readonly MigrationFile[]>,
): () => Promise<Finding> {
  let files: readonly MigrationFile[] | undefined
  return async () => {
    files ??= await readFiles()
    const [server, schema] = await Promise.all([selectServerState(db), migrationState(db, files)])
    const { applied, pending, unknown, changed } = schema
    const problem = server.isReadOnly
      ? 'the database is read-only'
      : schemaProblem({ pending: pending.length, unknown, changed })
    return {
      status: problem === undefined ? 'ok' : 'failed',
      ...(problem !== undefined && { problem }),
      facts: {
        serverVersion: server.version,
        migrationsApplied: applied,
        migrationsPending: pending.length,
        migrationUnknown: unknown ?? null,
      },
    }
  }
}

function schemaProblem(schema: {
  pending: number
  unknown: string | undefined
  changed: string | undefined
}): string | undefined {
  const { pending, unknown, changed } = schema
  if (unknown !== undefined) {
    return (
      `the database has the migration "${unknown}", which this version does not know: ` +
      'start the version that made it, or a newer one'
    )
  }
  if (changed !== undefined) return `the migration "${changed}" has changed since it was applied`
  if (pending === 0) return undefined
  return `the database lacks ${pending} migrations: run "strata migrate"`
}

/**
 * The journal is the one this process began with. After a restore below a running process its cursors and
 * transaction ids mean nothing, and only a start can begin a new epoch.
 */
export function journalCheck(db: Database): () => Promise<Finding> {
  let highest = 0n
  return async () => {
    const state = await selectJournalState(db)
    if (!state) return { status: 'failed', problem: 'the journal has no state row' }
    const { journalEpoch, hasMoved, nextTxId } = state
    const isRestored = hasMoved || nextTxId < highest
    if (nextTxId > highest) highest = nextTxId
    return {
      status: isRestored ? 'failed' : 'ok',
      ...(isRestored && { problem: RESTORED }),
      facts: { epoch: journalEpoch },
    }
  }
}

const RESTORED =
  'the database was restored while this process runs: stop every process, then start one to begin a new journal epoch'
