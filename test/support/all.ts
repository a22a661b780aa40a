import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ClientOptions } from '#client/client.ts'
import { connect } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { startEmbedded } from '#db/embedded/start.ts'
import { startRole } from './program.ts'
import type { Running } from './program.ts'

export interface All extends Running {
  admin: ClientOptions
}

/** The whole product as one process on a data folder, on free ports, as `npm start` runs it. */
export async function startAll(t: TestContext, dataFolder: string): Promise<All> {
  const running = startRole(t, 'all', {
    STRATA_DATA: dataFolder,
    CP_PORT: '0',
    CB_SERVER_PORT: '0',
    CP_CONTEXT_POLL_INTERVAL_SECONDS: '0.1',
  })
  const [, url = ''] = await running.hears(/Strata is ready at (\S+)/)
  const token = (await readFile(join(dataFolder, 'admin.key'), 'utf8')).trim()
  return { ...running, admin: { url, token } }
}

/** Looks into both databases of a data folder that no process uses. */
export async function lookInto<T>(
  dataFolder: string,
  look: (db: Database, memoryDb: Database) => Promise<T>,
): Promise<T> {
  await using server = await startEmbedded({ dataFolder })
  const options = { maxConnections: 2, appName: 'strata-test' }
  const db = connect(server.address('control_plane', 'app'), options)
  const memoryDb = connect(server.address('memory', 'app'), options)
  try {
    return await look(db, memoryDb)
  } finally {
    await Promise.all([db.end(), memoryDb.end()])
  }
}
