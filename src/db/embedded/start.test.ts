import assert from 'node:assert/strict'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect } from '#db/sql.ts'
import { startWriter, temporaryFolder } from '../../../test/support/embedded.ts'
import { startEmbedded } from './start.ts'

const ONE = { maxConnections: 1, appName: 'test' }

describe('startEmbedded', () => {
  it('keeps what was written, on a server that only its own folder reaches', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const told: string[] = []
    const first = await startEmbedded({ dataFolder, progress: (message) => told.push(message) })
    const owner = connect(first.address('control_plane', 'owner'), ONE)
    await owner`create table kept (x int)`
    await owner`insert into kept values (1)`
    const [settings] = await owner`
      select current_setting('listen_addresses') as listen, current_setting('data_checksums') as checksums,
        current_setting('fsync') as fsync, current_setting('server_encoding') as encoding,
        (select datlocale from pg_database where datname = current_database()) as locale`
    await owner.end()
    await first.stop()

    await using second = await startEmbedded({
      dataFolder,
      progress: (message) => told.push(message),
    })
    const again = connect(second.address('control_plane', 'owner'), ONE)
    const rows = await again`select x from kept`
    await again.end()

    assert.deepEqual(
      { ...settings },
      {
        listen: '',
        checksums: 'on',
        fsync: 'on',
        encoding: 'UTF8',
        locale: 'C.UTF-8',
      },
    )
    assert.deepEqual([...rows], [{ x: 1 }])
    assert.deepEqual(told, ['Making the database (first start only)'])
    const modes = await Promise.all(
      ['pg', 'pg/run', 'pg/superuser.password'].map(async (name) => {
        return ((await stat(join(dataFolder, name))).mode & 0o777).toString(8)
      }),
    )
    assert.deepEqual(modes, ['700', '700', '600'])
  })

  it('lets the application read and write rows of every table and change no table', async (t) => {
    await using server = await startEmbedded({ dataFolder: await temporaryFolder(t), fsync: false })
    const owner = connect(server.address('memory', 'owner'), ONE)
    await owner`create table things (id bigint generated always as identity, name text)`
    await owner`alter table things enable row level security`
    const app = connect(server.address('memory', 'app'), ONE)
    t.after(() => Promise.all([app.end(), owner.end()]))

    await assert.rejects(app`insert into things (name) values ('a')`, { code: '42501' })
    await owner`create policy all_rows on things using (name <> 'hidden') with check (true)`
    await app`insert into things (name) values ('a'), ('hidden')`
    await app`update things set name = 'b' where name = 'a'`
    await app`create temporary table staging (x int)`

    assert.deepEqual([...(await app`select name from things`)], [{ name: 'b' }])
    await assert.rejects(app`create table mine (x int)`, { code: '42501' })
    await assert.rejects(app`drop table things`, { code: '42501' })
    await assert.rejects(app`truncate things`, { code: '42501' })
    await assert.rejects(app`create database other`, { code: '42501' })
  })

  it('refuses a folder that a live process uses, and names that process', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const writer = startWriter(t, [dataFolder])
    await writer.until('5')

    await assert.rejects(startEmbedded({ dataFolder }), {
      name: 'StartError',
      message: new RegExp(
        `^Cannot use the data folder ".*": process ${writer.pid} is using it; [^\n]*$`,
      ),
    })

    const written = writer.said().split('\n').length
    await writer.until(String(written + 10))
  })

  it('refuses a folder that this very process uses', async (t) => {
    const dataFolder = await temporaryFolder(t)
    await using server = await startEmbedded({ dataFolder, fsync: false })

    await assert.rejects(startEmbedded({ dataFolder }), { message: /is using it/ })

    const db = connect(server.address('memory', 'app'), ONE)
    assert.deepEqual([...(await db`select 1 as one`)], [{ one: 1 }])
    await db.end()
  })

  it('names the folder when it cannot be made', async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(join(folder, 'file'), '')

    await assert.rejects(startEmbedded({ dataFolder: join(folder, 'file/data') }), {
      name: 'StartError',
      message: /^Cannot write to the data folder ".*file\/data": [^\n]*$/,
    })
  })

  it('refuses a database that another major version made, and leaves it alone', async (t) => {
    const dataFolder = await temporaryFolder(t)
    await (await startEmbedded({ dataFolder, fsync: false })).stop()
    await writeFile(join(dataFolder, 'pg/data/PG_VERSION'), '17\n')

    await assert.rejects(startEmbedded({ dataFolder, fsync: false }), {
      name: 'StartError',
      message: /PostgreSQL 17 made it and this version brings PostgreSQL 18/,
    })

    await writeFile(join(dataFolder, 'pg/data/PG_VERSION'), '18\n')
    await (await startEmbedded({ dataFolder, fsync: false })).stop()
  })

  it('gives the reason of the server when it does not start, and can be tried again', async (t) => {
    const dataFolder = await temporaryFolder(t)
    await (await startEmbedded({ dataFolder, fsync: false })).stop()
    const config = join(dataFolder, 'pg/data/postgresql.conf')
    const before = await readFile(config, 'utf8')
    await writeFile(config, `${before}\nno_such_setting = 1\n`)

    await assert.rejects(startEmbedded({ dataFolder, fsync: false }), {
      name: 'StartError',
      message:
        /^Cannot start the database server: .*(no_such_setting|configuration file).*server\.log\)$/,
    })

    await writeFile(config, before)
    await (await startEmbedded({ dataFolder, fsync: false })).stop()
  })

  it('begins again after a first start that was interrupted', async (t) => {
    const dataFolder = await temporaryFolder(t)
    await mkdir(join(dataFolder, 'pg/data.unfinished/base'), { recursive: true })
    await writeFile(join(dataFolder, 'pg/superuser.password'), 'old\n')

    await using server = await startEmbedded({ dataFolder, fsync: false })

    const db = connect(server.address('memory', 'app'), ONE)
    assert.deepEqual([...(await db`select 1 as one`)], [{ one: 1 }])
    await db.end()
  })

  it('listens on loopback with a password where a socket path would be too long', async (t) => {
    const dataFolder = join(await temporaryFolder(t), 'x'.repeat(100), 'data')
    await using server = await startEmbedded({ dataFolder, fsync: false })

    const address = server.address('memory', 'app')
    assert.ok('url' in address && new URL(address.url).hostname === '127.0.0.1')
    const db = connect(address, ONE)
    assert.deepEqual([...(await db`select 1 as one`)], [{ one: 1 }])
    await db.end()
    await assert.rejects(startEmbedded({ dataFolder }), { message: /is using it/ })
    const stranger = connect({ url: address.url.replace(/:[^:@]*@/, ':wrong@') }, ONE)
    await assert.rejects(stranger`select 1`, { code: '28P01' })
    await stranger.end()
  })

  it('says that the server has ended when nobody asked it to', async (t) => {
    const dataFolder = await temporaryFolder(t)
    await using server = await startEmbedded({ dataFolder, fsync: false })
    const pid = Number.parseInt(
      await readFile(join(dataFolder, 'pg/data/postmaster.pid'), 'utf8'),
      10,
    )

    process.kill(pid, 'SIGQUIT')

    await server.ended
  })
})
