import { readFile, realpath } from 'node:fs/promises'
import { join } from 'node:path'
import type { DatabaseAddress } from '#db/sql.ts'
import { ROLE_NAMES, rolePassword } from './roles.ts'

/** Lines of `postmaster.pid`. Source: PostgreSQL's `miscinit.h`. */
const LINE = { port: 3, socketFolder: 4, status: 7 } as const

/**
 * The address of the embedded server that another process runs on a data folder, for its application role;
 * undefined when none is running there. Whoever may read the folder may use it.
 */
export async function findRunning(
  dataFolder: string,
  database: string,
): Promise<DatabaseAddress | undefined> {
  const folder = await realpath(join(dataFolder, 'pg')).catch(() => undefined)
  if (folder === undefined) return undefined
  const [state, password] = await Promise.all([
    readOrNothing(join(folder, 'data', 'postmaster.pid')),
    readOrNothing(join(folder, 'superuser.password')),
  ])
  if (state === undefined || password === undefined) return undefined
  const lines = state.split('\n').map((line) => line.trim())
  if (lines[LINE.status] !== 'ready') return undefined
  const port = Number(lines[LINE.port])
  const socket = lines[LINE.socketFolder] ?? ''
  const login = { user: ROLE_NAMES.app, password: rolePassword(password.trim(), 'app') }
  if (socket !== '') return { socket, port, ...login, database }
  return { url: `postgres://${login.user}:${login.password}@127.0.0.1:${port}/${database}` }
}

async function readOrNothing(path: string): Promise<string | undefined> {
  return await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
}
