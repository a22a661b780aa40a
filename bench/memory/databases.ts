import { join } from 'node:path'
import { migrate } from '#db/migrate.ts'
import { connect } from '#db/sql.ts'
import type { Database, DatabaseAddress } from '#db/sql.ts'
import type { BenchServer } from '../kit/server.ts'

const MIGRATIONS = join(import.meta.dirname, '../../migrations/memory')

export interface MemoryDatabase extends AsyncDisposable {
  /** Who may do anything. */
  admin: Database
  address: DatabaseAddress
}

/** A new database of memory. */
export async function memoryDatabase(server: BenchServer, name: string): Promise<MemoryDatabase> {
  const address = await server.empty(name)
  const options = { appName: 'strata-bench', statementTimeoutMs: 3_600_000, maxConnections: 2 }
  const admin = connect(address, options)
  await migrate(admin, MIGRATIONS)
  return { admin, address, [Symbol.asyncDispose]: () => admin.end({ timeout: 1 }) }
}
