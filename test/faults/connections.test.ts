import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { recordObservation } from '#contract/observations.ts'
import { bootstrap } from '#contract/org.ts'
import { databaseUrl } from '#db/address.ts'
import type { Database } from '#db/sql.ts'
import { AppError } from '#lib/errors.ts'
import { ownDatabase } from '../support/db.ts'
import { startRole } from '../support/program.ts'
import { isBehind } from '../support/strata.ts'
import { toldOnce } from '../support/told-once.ts'
import { waitFor } from '../support/wait.ts'

/** More for a longer look: STRATA_TEST_CUTS=100 npm test -- test/faults/connections.test.ts */
const CUTS = Number(process.env['STRATA_TEST_CUTS'] ?? 5)
const KEY = 'key-of-the-roles-of-this-test'

/** Every role as a process of its own over two databases. */
async function startRoles(t: TestContext) {
  const control = await ownDatabase(t, 'control-plane', 'superuser')
  const own = await ownDatabase(t, 'memory', 'superuser')
  const memory = startRole(t, 'memory', {
    CB_DATABASE_URL: databaseUrl(own.address('app')),
    CB_SERVER_PORT: '0',
    CB_SERVER_API_KEY: KEY,
  })
  const [, memoryUrl = ''] = await memory.hears(/is ready at (\S+)/)
  const settings = {
    CP_DATABASE_URL: databaseUrl(control.address('app')),
    CP_PORT: '0',
    CP_BOOTSTRAP_TOKEN: KEY,
    CP_CONTEXT_PROVIDER: 'http',
    CP_CONTEXT_BASE_URL: memoryUrl,
    CP_CONTEXT_API_KEY: KEY,
    CP_CONTEXT_POLL_INTERVAL_SECONDS: '0.1',
    CP_CONTEXT_RETRY_BACKOFF_BASE_SECONDS: '0.1',
    CP_CONTEXT_RETRY_BACKOFF_MAX_SECONDS: '0.2',
    CP_WORKER_POLL_SECONDS: '0.1',
  }
  const api = startRole(t, 'api', settings)
  const others = ['adapter', 'worker'].map((role) => startRole(t, role, settings))
  const [, url = ''] = await api.hears(/is ready at (\S+)/)
  await Promise.all(others.map((one) => one.hears(/ is ready/)))
  const body = { slug: 'x', name: 'X' }
  const { apiKey } = await call({ url, token: KEY }, bootstrap, { body })
  return {
    db: control.db,
    memoryDb: own.db,
    admin: { url, token: apiKey.key ?? '' },
    processes: [memory, api, ...others],
  }
}

/** Ends every session on the database but our own, as a restart of the server does. */
async function cutAll(db: Database): Promise<void> {
  await db`
    select pg_terminate_backend(pid)
    from pg_stat_activity
    where datname = current_database()
      and pid <> pg_backend_pid()
      and application_name <> 'strata-test'`
}

/** Records until told to stop; what was refused for want of a database is repeated with its key. */
async function observe(client: ClientOptions, isOver: () => boolean): Promise<string[]> {
  const ids: string[] = []
  while (!isOver()) {
    const idempotencyKey = randomUUID()
    const body = { kind: 'note', content: `Said while the line was cut: ${idempotencyKey}` }
    await waitFor(async () => {
      const made = await call(client, recordObservation, { body, idempotencyKey }).catch(unlessGone)
      if (made) ids.push(made.id)
      return made !== undefined
    }, 60)
  }
  return ids
}

function unlessGone(error: unknown): undefined {
  if (error instanceof AppError && error.code === 'not_ready') return undefined
  throw error
}

describe('roles whose connections to the database are cut again and again', () => {
  const timeout = 30_000 * (CUTS + 1)
  it('go on, answer not_ready meanwhile, and lose and double nothing', { timeout }, async (t) => {
    const { db, memoryDb, admin, processes } = await startRoles(t)
    let cuts = 0
    const writers = [1, 2, 3, 4].map(() => observe(admin, () => cuts === CUTS))
    const countOf = async () => {
      const [row] = await db<{ count: number }[]>`select count(*)::int as count from observations`
      return row?.count ?? 0
    }
    for (; cuts < CUTS; cuts += 1) {
      const before = await countOf()
      await waitFor(async () => (await countOf()) > before + 5, 60)
      await Promise.all([cutAll(db), cutAll(memoryDb)])
    }
    const ids = (await Promise.all(writers)).flat()

    await waitFor(async () => !(await isBehind(db)), 60)
    assert.equal(await countOf(), ids.length)
    assert.equal(new Set(ids).size, ids.length)
    const { missing, tooMuch } = await toldOnce(db, memoryDb)
    assert.deepEqual([missing, tooMuch], [[], []])
    for (const one of processes) {
      one.kill('SIGTERM')
      assert.equal(await one.ended, 0, one.said())
    }
  })
})
