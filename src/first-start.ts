import { randomBytes } from 'node:crypto'
import { open, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { transaction } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { newId } from '#lib/id.ts'
import { strangerCtx } from '#org/authorize.ts'
import { bootstrap } from '#org/bootstrap.ts'

/**
 * Makes the tenant `local` and its admin on the very first start of a database. The admin key goes to
 * `admin.key` in the data folder before the transaction commits, so that no start can leave a tenant
 * whose key nobody has. Answers the key, or undefined when there is nothing to do.
 */
export async function firstStart(db: Database, dataFolder: string): Promise<string | undefined> {
  const id = newId()
  const trace = { requestId: id, correlationId: id, traceRunId: id }
  try {
    return await transaction(db, 'read write', async (sql) => {
      const { apiKey } = await bootstrap(sql, strangerCtx(trace), {
        slug: 'local',
        name: 'Local',
        displayName: 'Administrator',
      })
      await writeSecret(join(dataFolder, 'admin.key'), apiKey.key)
      return apiKey.key
    })
  } catch (error) {
    if (error instanceof AppError && error.code === 'already_bootstrapped') return undefined
    throw error
  }
}

/** The secret in a file of the data folder, made on first use; one line, readable by its owner only. */
export async function secretFile(path: string): Promise<string> {
  const existing = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
    return ''
  })
  if (existing.trim() !== '') return existing.trim()
  const secret = `cb_${randomBytes(32).toString('base64url')}`
  await writeSecret(path, secret)
  return secret
}

/** Whole or not at all, also through a crash of the machine. */
async function writeSecret(path: string, secret: string): Promise<void> {
  const draft = `${path}.${newId()}`
  try {
    const file = await open(draft, 'wx', 0o600)
    await file.writeFile(`${secret}\n`)
    await file.sync()
    await file.close()
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}
