import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { Hono } from 'hono'
import { readMigrations } from '#db/migrate.ts'
import { connect } from '#db/sql.ts'
import type { Database } from '#db/sql.ts'
import { guardJournal } from '#events/journal-guard.ts'
import { jsonLog } from '#lib/log.ts'
import { createProbes } from '../../src/probing.ts'
import { emptyDatabase, migrationsOf, ownDatabase } from '../../test/support/db.ts'
import { providerAt } from '../../test/support/context.ts'
import { databaseCheck } from './database-checks.ts'
import { createHealth } from './health.ts'
import { createMetrics } from './metrics.ts'
import { bindProbes } from './probes.ts'

const NOW = () => new Date()
const QUIET = jsonLog(() => {}, NOW)

interface Ready {
  status: string
  problems: string[]
  checks: Record<string, Record<string, unknown>>
}

async function readyOf(db: Database, memory = providerAt('http://127.0.0.1:9')) {
  const app = new Hono()
  bindProbes(
    app,
    createProbes({ role: 'test', log: QUIET, metrics: createMetrics(), controlPlane: db, memory }),
  )
  const response = await app.request('/health/ready')
  const text = await response.text()
  return { status: response.status, text, body: JSON.parse(text) as Ready }
}

/** A control plane's database as the application sees it, and as its owner may change it. */
async function controlPlane(t: TestContext) {
  const { db: owner, address } = await ownDatabase(t, 'control-plane', 'owner')
  const db = connect(address('app'), { maxConnections: 3, appName: 'test' })
  t.after(() => db.end({ timeout: 1 }))
  return { db, owner }
}

const memoryFiles = () => readMigrations(migrationsOf('memory'))

describe('/health/ready', () => {
  it('tells what it looked at, and is ready without memory', async (t) => {
    const { db } = await controlPlane(t)
    const { status, body } = await readyOf(db)
    assert.equal(status, 200, JSON.stringify(body))
    assert.deepEqual([body.status, body.problems], ['ok', []])
    const { database, journal, memory } = body.checks
    const count = (await readMigrations(migrationsOf('control-plane'))).length
    assert.match(String(database?.['serverVersion']), /^\d+\.\d+$/)
    assert.deepEqual([database?.['migrationsApplied'], database?.['migrationsPending']], [count, 0])
    assert.equal(journal?.['epoch'], 1)
    assert.equal(memory?.['status'], 'unreachable')
  })

  it('is not ready on a schema that is not this build', async (t) => {
    const { db, owner } = await controlPlane(t)
    await owner`insert into schema_migrations (name, sha256) values ('9999_later.sql', 'x')`
    const newer = await readyOf(db)
    assert.equal(newer.status, 503)
    assert.match(newer.body.problems.join(), /"9999_later\.sql", which this version does not know/)
    assert.equal(newer.body.checks['database']?.['migrationUnknown'], '9999_later.sql')

    await owner`delete from schema_migrations where name > '0014'`
    assert.match((await readyOf(db)).body.problems.join(), /lacks \d+ migrations: run "strata mig/)

    await owner`update schema_migrations set sha256 = 'x' where name = '0001_org.sql'`
    assert.match((await readyOf(db)).body.problems.join(), /"0001_org\.sql" has changed/)
  })

  it('is not ready on a database that has no schema at all, or only reads', async (t) => {
    const { db } = await emptyDatabase(t)
    const empty = await databaseCheck(db, memoryFiles)()
    assert.match(String(empty.problem), /lacks \d+ migrations/)

    const { owner, db: app } = await controlPlane(t)
    const [row] = await owner<{ name: string }[]>`select current_database() as name`
    await owner`alter database ${owner(row?.name ?? '')} set default_transaction_read_only = on`
    assert.match((await readyOf(app)).body.problems.join(), /read-only/)
  })

  it('is not ready when the journal was restored while the process runs', async (t) => {
    const { db, owner } = await controlPlane(t)
    await owner.end()
    await guardJournal(db)
    assert.equal((await readyOf(db)).status, 200)
    await db`update journal_state set system_identifier = '1'`
    const { status, body } = await readyOf(db)
    assert.equal(status, 503)
    assert.match(body.problems.join(), /restored while this process runs/)
  })

  it('says in time that the database does not answer, and not where it is', async (t) => {
    const url = 'postgres://someone:hunter2@127.0.0.1:9/nowhere'
    const db = connect({ url }, { maxConnections: 1, appName: 'test' })
    t.after(() => db.end({ timeout: 0 }))
    const { status, text, body } = await readyOf(db)
    assert.equal(status, 503)
    assert.ok(body.problems.includes('the database does not answer'), text)
    assert.doesNotMatch(text, /127\.0|hunter2|someone|:9\/|ECONN/)
  })
})

const never = () => new Promise<never>(() => {})

describe('health', () => {
  it('waits for no check for ever, whether it is vital or not', async () => {
    const checks = { vital: { database: never }, informing: { memory: never } }
    const limits = { freshSeconds: 60, patienceSeconds: 0 }
    const health = await createHealth(checks, QUIET, limits)()
    assert.equal(health.isReady, false)
    assert.deepEqual(health.problems, ['the database does not answer'])
    assert.equal(health.checks['memory']?.['status'], 'failed')
  })

  it('is asked once however many ask at once', async () => {
    let asked = 0
    const check = () => Promise.resolve({ status: (asked += 1) > 0 ? 'ok' : '' })
    const ask = createHealth({ vital: { database: check } }, QUIET)
    await Promise.all(Array.from({ length: 50 }, ask))
    assert.equal(asked, 1)
  })

  it('is logged when it changes, and only then', async () => {
    const said: string[] = []
    const log = jsonLog((line) => void said.push((JSON.parse(line) as { msg: string }).msg), NOW)
    let problem: string | undefined
    const check = () => Promise.resolve({ status: 'x', ...(problem !== undefined && { problem }) })
    const limits = { freshSeconds: 0, patienceSeconds: 60 }
    const ask = createHealth({ vital: { database: check } }, log, limits)
    for (const now of [undefined, 'gone', 'gone', undefined, undefined]) {
      problem = now
      assert.equal((await ask()).isReady, now === undefined)
    }
    assert.deepEqual(said, ['Not ready', 'Ready again'])
  })
})
