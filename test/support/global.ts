import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '#db/embedded/start.ts'
import type { Embedded } from '#db/embedded/start.ts'
import { connect } from '#db/sql.ts'
import { publishServer } from './server.ts'
import type { TestServer } from './server.ts'

let running: { embedded: Embedded; folder: string } | undefined
let external: TestServer | undefined

/** Runs once before all test files: one server for the whole run, ours or the one TEST_DATABASE_URL names. */
export async function globalSetup(): Promise<void> {
  const url = process.env['TEST_DATABASE_URL']
  const prefix = `strata_test_${randomUUID().slice(0, 8)}`
  if (url !== undefined && url !== '') {
    external = {
      external: true,
      prefix,
      addresses: { superuser: { url }, owner: { url }, app: { url } },
    }
    await checkVersion(external)
    publishServer(external)
    return
  }
  const folder = await mkdtemp(join(tmpdir(), 'strata-test-'))
  const embedded = await startEmbedded({ dataFolder: folder, fsync: false })
  running = { embedded, folder }
  publishServer({
    external: false,
    prefix,
    addresses: {
      superuser: embedded.address('postgres', 'superuser'),
      owner: embedded.address('postgres', 'owner'),
      app: embedded.address('postgres', 'app'),
    },
  })
}

/** Runs once after all test files; nothing of the run stays behind. */
export async function globalTeardown(): Promise<void> {
  if (external) await dropDatabases(external)
  if (!running) return
  await running.embedded.stop()
  await rm(running.folder, { recursive: true, force: true })
}

async function checkVersion(server: TestServer): Promise<void> {
  const admin = connect(server.addresses.superuser, { maxConnections: 1, appName: 'strata-test' })
  const [row] = await admin<{ version: string }[]>`show server_version_num`
  await admin.end({ timeout: 5 })
  const version = Number(Object.values(row ?? {})[0])
  if (version < 150_000) throw new Error(`TEST_DATABASE_URL needs PostgreSQL 15, not ${version}`)
}

async function dropDatabases(server: TestServer): Promise<void> {
  const admin = connect(server.addresses.superuser, { maxConnections: 1, appName: 'strata-test' })
  const rows = await admin<{ datname: string }[]>`
    select datname
    from pg_database
    where datname like ${`${server.prefix}%`}`
  for (const { datname } of rows)
    await admin`drop database if exists ${admin(datname)} with (force)`
  await admin.end({ timeout: 5 })
}
