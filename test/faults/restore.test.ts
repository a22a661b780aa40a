import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { call } from '#client/client.ts'
import type { ClientOptions } from '#client/client.ts'
import { listEvents } from '#contract/events-api.ts'
import { recordObservation } from '#contract/observations.ts'
import { databaseUrl } from '#db/address.ts'
import { connect } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { ownDatabase, ownServer } from '../support/db.ts'
import type { OwnServer } from '../support/db.ts'
import { temporaryFolder } from '../support/embedded.ts'
import { startRole } from '../support/program.ts'
import type { Running } from '../support/program.ts'
import { burnTransactions, restoreInto } from '../support/restore.ts'
import { isBehind } from '../support/strata.ts'
import { toldOnce } from '../support/told-once.ts'
import { waitFor } from '../support/wait.ts'

/** One server with a migrated database for the control plane, and a short look into it. */
async function cluster(t: TestContext) {
  const server = await ownServer(t)
  await (await server.open('control-plane')).end()
  return {
    url: databaseUrl(server.embedded.address('control_plane', 'owner')),
    look: <T>(work: (db: Database) => Promise<T>) => lookInto(server, work),
  }
}

async function lookInto<T>({ embedded }: OwnServer, work: (db: Database) => Promise<T>) {
  const address = embedded.address('control_plane', 'superuser')
  const db = connect(address, { maxConnections: 1, appName: 'strata-test' })
  try {
    return await work(db)
  } finally {
    await db.end()
  }
}

async function ready(running: Running, folder: string): Promise<ClientOptions> {
  const [, url = ''] = await running.hears(/Strata is ready at (\S+)/)
  return { url, token: (await readFile(join(folder, 'admin.key'), 'utf8')).trim() }
}

async function observe(admin: ClientOptions, count: number): Promise<string[]> {
  const ids: string[] = []
  for (let number = 1; number <= count; number += 1) {
    const body = { kind: 'note', content: `Written down as number ${number}` }
    ids.push((await call(admin, recordObservation, { body })).eventId)
  }
  return ids
}

async function stopped(running: Running): Promise<void> {
  running.kill('SIGTERM')
  assert.equal(await running.ended, 0, running.said())
}

describe('a journal restored into a server that has counted less far', () => {
  it('is refused beside others, goes on alone, and loses and doubles nothing', async (t) => {
    const folder = await temporaryFolder(t)
    const memory = await ownDatabase(t, 'memory')
    const [old, fresh] = [await cluster(t), await cluster(t)]
    const start = (url: string, role = 'all') =>
      startRole(t, role, {
        STRATA_DATA: folder,
        CP_PORT: '0',
        CB_SERVER_PORT: '0',
        CP_CONTEXT_POLL_INTERVAL_SECONDS: '0.1',
        CP_DATABASE_URL: url,
        CB_DATABASE_URL: databaseUrl(memory.address('owner')),
      })
    await old.look((db) => burnTransactions(db, 20_000))
    const before = start(old.url)
    const written = await observe(await ready(before, folder), 20)
    await old.look((db) => waitFor(async () => !(await isBehind(db)), 30))
    // Told to memory or not, these come along as well.
    written.push(...(await observe(await ready(before, folder), 5)))
    await stopped(before)
    await old.look((from) => fresh.look((to) => restoreInto(from, to)))

    const beside = await fresh.look(async (db) => {
      await db`select 1`
      const refused = start(fresh.url, 'api')
      assert.equal(await refused.ended, 2, refused.said())
      return refused.told()
    })
    assert.match(beside, /^strata: Cannot start: the journal was restored [^\n]*stop every other/m)

    const after = start(fresh.url)
    const admin = await ready(after, folder)
    assert.match(after.said(), /restored journal was found.*"journalEpoch":2/)
    written.push(...(await observe(admin, 20)))
    await fresh.look((db) => waitFor(async () => !(await isBehind(db)), 30))

    const listed = await call(admin, listEvents, {
      query: { types: 'observation.recorded', limit: '200' },
    })
    assert.deepEqual(
      listed.items.map(({ id }) => id),
      written,
    )
    await stopped(after)
    const { missing, tooMuch } = await fresh.look((db) => toldOnce(db, memory.db))
    assert.deepEqual([missing, tooMuch], [[], []])
  })
})
