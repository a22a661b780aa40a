import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { emptyDatabase, emptyDb } from '../../test/support/db.ts'
import { migrate } from './migrate.ts'
import { connect } from './sql.ts'

async function folderWith(t: TestContext, files: Record<string, string>): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'migrations-'))
  t.after(() => rm(dir, { recursive: true }))
  for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text)
  return dir
}

describe('migrate', () => {
  it('applies each file once, also when two processes start together', async (t) => {
    const db = await emptyDb(t)
    const dir = await folderWith(t, {
      '0001_a.sql': 'create table a (x int)',
      '0002_b.sql': 'create table b (x int)',
    })

    const applied = await Promise.all([migrate(db, dir), migrate(db, dir)])

    assert.deepEqual(applied.flat().toSorted(), ['0001_a.sql', '0002_b.sql'])
    assert.deepEqual(await migrate(db, dir), [])
  })

  it('leaves nothing of a file that fails, keeps those before it and names it', async (t) => {
    const db = await emptyDb(t)
    const dir = await folderWith(t, {
      '0001_a.sql': 'create table a (x int)',
      '0002_b.sql': 'create table b (x int); select 1/0',
    })

    await assert.rejects(migrate(db, dir), {
      name: 'StartError',
      message: 'Cannot apply migration "0002_b.sql": division by zero',
    })

    const [row] = await db`select to_regclass('a') as a, to_regclass('b') as b`
    assert.deepEqual({ ...row }, { a: 'a', b: null })
    await writeFile(join(dir, '0002_b.sql'), 'create table b (x int)')
    assert.deepEqual(await migrate(db, dir), ['0002_b.sql'])
  })

  it('refuses a file that has changed since it was applied, and applies nothing', async (t) => {
    const db = await emptyDb(t)
    const dir = await folderWith(t, { '0001_a.sql': 'create table a (x int)' })
    await migrate(db, dir)
    await writeFile(join(dir, '0001_a.sql'), 'create table a (x bigint)')
    await writeFile(join(dir, '0002_b.sql'), 'create table b (x int)')

    await assert.rejects(migrate(db, dir), { message: /"0001_a\.sql" has changed/ })

    const [row] = await db`select to_regclass('b') as b`
    assert.equal(row?.['b'], null)
  })

  it('says so when its account may not change the schema', async (t) => {
    const { address } = await emptyDatabase(t)
    const db = connect(address('superuser'), { maxConnections: 1, appName: 'strata-test' })
    t.after(() => db.end())
    // Somebody who may do nothing here, whatever accounts the server has.
    await db`set role pg_monitor`
    const dir = await folderWith(t, { '0001_a.sql': 'create table a (x int)' })

    await assert.rejects(migrate(db, dir), {
      name: 'StartError',
      message: /^Cannot migrate the database: its account may not change the schema \(permission /,
    })
  })

  it('does not take other line ends for a change', async (t) => {
    const db = await emptyDb(t)
    const dir = await folderWith(t, { '0001_a.sql': 'create table a (\n  x int\n)' })
    await migrate(db, dir)
    await writeFile(join(dir, '0001_a.sql'), 'create table a (\r\n  x int\r\n)')

    assert.deepEqual(await migrate(db, dir), [])
  })

  it('refuses a database that a newer version has migrated', async (t) => {
    const db = await emptyDb(t)
    const newer = await folderWith(t, { '0001_a.sql': 'select 1', '0002_b.sql': 'select 1' })
    await migrate(db, newer)
    const older = await folderWith(t, { '0001_a.sql': 'select 1' })

    await assert.rejects(migrate(db, older), {
      message: /"0002_b\.sql", which this version does not know/,
    })
  })

  it('gives the connection back as it found it', async (t) => {
    const db = await emptyDb(t, 1)
    await migrate(db, await folderWith(t, { '0001_a.sql': 'select 1' }))

    const [row] = await db`
      select current_setting('statement_timeout') as "statement", current_setting('lock_timeout') as "lock",
        (select count(*)::int from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()) as locks`

    assert.deepEqual({ ...row }, { statement: '15s', lock: '10s', locks: 0 })
  })
})
