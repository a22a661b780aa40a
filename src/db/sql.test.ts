import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { ownServer, sharedDb } from '../../test/support/db.ts'
import { databaseUrl, readDatabaseUrl } from './address.ts'
import { connect, transaction } from './sql.ts'

const ONE = { maxConnections: 1, appName: 'test-of-sql' }

describe('readDatabaseUrl', () => {
  it('leaves what the driver understands and applies what it would ignore', () => {
    assert.deepEqual(
      readDatabaseUrl(
        'postgres://ann:pw@db/name?host=/run/pg&port=5433&dbname=other&connect_timeout=5&sslmode=require',
      ),
      {
        url: 'postgres://ann:pw@db/name?sslmode=require',
        overrides: { host: '/run/pg', port: 5433, database: 'other', connect_timeout: 5 },
      },
    )
    assert.deepEqual(readDatabaseUrl('postgresql://db/name'), {
      url: 'postgresql://db/name',
      overrides: {},
    })
  })

  it('refuses what cannot be honoured, without showing the URL', () => {
    const cases = [
      ['', /must look like postgres:/],
      ['mysql://root:secret@db/name', /must look like postgres:/],
      ['localhost:5432/name', /must look like postgres:/],
      ['postgres://ann:secret@db/name?host=', /"host" in it must be/],
      ['postgres://ann:secret@db/name?host=a,b', /"host" in it must be/],
      ['postgres://ann:secret@db/name?host=/a&host=/b', /"host" is given twice/],
      ['postgres://ann:secret@db/name?port=none', /"port" in it must be/],
      ['postgres://ann:secret@db/name?connect_timeout=0', /"connect_timeout" in it must be/],
      ['postgres://ann:secret@db/name?connect_timeout=1s', /"connect_timeout" in it must be/],
      [
        'postgres://ann:secret@db/name?channel_binding=require',
        /"channel_binding" is not supported/,
      ],
    ] as const
    for (const [url, message] of cases) {
      assert.throws(
        () => readDatabaseUrl(url),
        (error: Error) => {
          assert.equal(error.name, 'StartError')
          assert.match(error.message, message)
          assert.doesNotMatch(error.message, /secret|\n/)
          return true
        },
      )
    }
  })
})

describe('databaseUrl', () => {
  it('names the same database to whoever reads it', () => {
    const socket = {
      socket: '/a folder/run',
      port: 5432,
      user: 'ann',
      password: 'p/w?',
      database: 'd',
    }
    const { url, overrides } = readDatabaseUrl(databaseUrl(socket))
    assert.deepEqual(overrides, { host: '/a folder/run', port: 5432 })
    assert.equal(url, 'postgres://ann:p%2Fw%3F@localhost/d')
    assert.equal(databaseUrl({ url: 'postgres://db/name' }), 'postgres://db/name')
  })
})

describe('connect', () => {
  it('refuses a URL that the driver cannot read, in one sentence', () => {
    for (const url of ['postgres://db:port/name', 'postgres://a b/%zz', 'postgres://%zz@db/name']) {
      assert.throws(() => connect({ url }, ONE), {
        name: 'StartError',
        message: /^Cannot use the database URL: [^\n]*$/,
      })
    }
  })

  it('reaches the server that ?host= names, not the one of the URL', async (t) => {
    const { embedded } = await ownServer(t)
    const address = embedded.address('memory', 'app')
    assert.ok('socket' in address)
    const { socket, user, password, port } = address

    const db = connect(
      { url: `postgres://${user}:${password}@nowhere.invalid:${port}/memory?host=${socket}` },
      ONE,
    )
    const [row] = await db`select current_database() as name`
    await db.end()

    assert.deepEqual({ ...row }, { name: 'memory' })
  })

  it('bounds every statement, wait for a lock and idle transaction, and says who we are', async () => {
    const db = await sharedDb()
    const rows = await db<{ name: string; setting: string }[]>`
      select name, setting
      from pg_settings
      where name in ('statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout',
        'application_name')
      order by name`

    assert.deepEqual(
      rows.map((row) => [row.name, row.setting]),
      [
        ['application_name', 'strata-test'],
        ['idle_in_transaction_session_timeout', '15000'],
        ['lock_timeout', '10000'],
        ['statement_timeout', '15000'],
      ],
    )
  })
})

describe('transaction', () => {
  it('shows one moment of the database in a snapshot and refuses to write in it', async () => {
    const db = await sharedDb()

    await transaction(db, 'snapshot', async (sql) => {
      const [mode] = await sql`
        select current_setting('transaction_isolation') as isolation,
          current_setting('transaction_read_only') as "readOnly"`
      assert.deepEqual({ ...mode }, { isolation: 'repeatable read', readOnly: 'on' })
    })
    await assert.rejects(
      transaction(db, 'read only', (sql) => sql`create temporary table never (x int)`),
      { code: '25006' },
    )
  })
})
