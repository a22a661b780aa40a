import assert from 'node:assert/strict'
import {
  chmod,
  chown,
  cp,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
} from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { connect } from '#db/sql.ts'
import { ordinaryUser, startWriter, temporaryFolder } from '../../../test/support/embedded.ts'
import { findHome } from './account.ts'
import { findBinaries } from './package.ts'
import { startEmbedded } from './start.ts'

const NOBODY = 65_534
const BLOCKED = '/nonexistent/unshare'
const asRoot =
  process.getuid?.() === 0 ? {} : { skip: 'PostgreSQL only needs this when we are root' }

async function accountOf(dataFolder: string): Promise<number> {
  const pid = Number.parseInt(
    await readFile(join(dataFolder, 'pg/data/postmaster.pid'), 'utf8'),
    10,
  )
  return (await stat(`/proc/${pid}`)).uid
}

async function giveAway(folder: string, uid: number): Promise<void> {
  for (const name of await readdir(folder, { recursive: true }))
    await chown(join(folder, name), uid, uid)
  await chown(folder, uid, uid)
}

async function answers(server: Awaited<ReturnType<typeof startEmbedded>>): Promise<boolean> {
  const db = connect(server.address('memory', 'app'), { maxConnections: 1, appName: 'test' })
  const rows = await db`select 1 as one`
  await db.end()
  return rows.length === 1
}

describe('the account of the server, when we are root', asRoot, () => {
  it('is root inside a user namespace, whose files stay those of root', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const binaries = await findBinaries()
    const { account } = await findHome({ dataFolder, binaries, progress: () => {} })
    if (account.ids) return t.skip('User namespaces are blocked on this machine')

    await using server = await startEmbedded({ dataFolder, fsync: false })

    assert.ok(await answers(server))
    assert.equal((await stat(join(dataFolder, 'pg/data'))).uid, 0)
    assert.equal((await stat(dataFolder)).mode & 0o777, 0o700)
  })

  it('is nobody where user namespaces are blocked, on a folder that it owns', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const first = await startEmbedded({ dataFolder, fsync: false, unshare: BLOCKED })
    assert.ok(await answers(first))
    assert.equal(await accountOf(dataFolder), NOBODY)
    await first.stop()

    // It stays so where namespaces are allowed later: the files are nobody's.
    await using second = await startEmbedded({ dataFolder, fsync: false })

    assert.ok(await answers(second))
    assert.equal(await accountOf(dataFolder), NOBODY)
    assert.equal((await stat(join(dataFolder, 'pg/data'))).uid, NOBODY)
  })

  it('becomes nobody with the data when user namespaces are blocked later', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const first = await startEmbedded({ dataFolder, fsync: false })
    await first.stop()

    await using second = await startEmbedded({ dataFolder, fsync: false, unshare: BLOCKED })

    assert.ok(await answers(second))
    assert.equal((await stat(join(dataFolder, 'pg/data/base'))).uid, NOBODY)
  })

  it('is the owner of the database that is there', async (t) => {
    const dataFolder = await temporaryFolder(t)
    await (await startEmbedded({ dataFolder, fsync: false })).stop()
    await giveAway(join(dataFolder, 'pg'), 12_345)

    await using server = await startEmbedded({ dataFolder, fsync: false })

    assert.ok(await answers(server))
    assert.equal(await accountOf(dataFolder), 12_345)
  })

  it('gets a copy of the programs and a folder elsewhere where it cannot enter ours', async (t) => {
    const outer = await temporaryFolder(t)
    const dataFolder = join(outer, 'data')
    await mkdir(dataFolder)
    const elsewhere = await temporaryFolder(t)
    const told: string[] = []
    const input = {
      dataFolder,
      fsync: false,
      unshare: BLOCKED,
      elsewhere: join(elsewhere, 'strata'),
    }
    await chmod(elsewhere, 0o755)

    const first = await startEmbedded({ ...input, progress: (message) => told.push(message) })
    assert.ok(await answers(first))
    assert.equal(await accountOf(dataFolder), NOBODY)
    await first.stop()

    const link = await readlink(join(dataFolder, 'pg'))
    assert.ok(link.startsWith(join(elsewhere, 'strata')))
    assert.ok(told.some((message) => message.includes(link)))
    await using second = await startEmbedded(input)
    assert.ok(await answers(second))
    assert.deepEqual(await readdir(join(elsewhere, 'strata')), [link.split('/').at(-1)])
  })

  it('is told when the folder elsewhere is gone, and nothing is made in its place', async (t) => {
    const dataFolder = await temporaryFolder(t)
    await symlink(join(dataFolder, 'gone'), join(dataFolder, 'pg'))

    await assert.rejects(startEmbedded({ dataFolder }), {
      name: 'StartError',
      message: /leads to a folder that is gone/,
    })
    assert.ok((await lstat(join(dataFolder, 'pg'))).isSymbolicLink())
  })

  it('copies programs that it cannot read', async (t) => {
    const outer = await temporaryFolder(t)
    const dataFolder = await temporaryFolder(t)
    const found = await findBinaries()
    await cp(found.folder, join(outer, 'native'), { recursive: true, verbatimSymlinks: true })
    const binaries = { folder: join(outer, 'native'), version: found.version }

    const home = await findHome({ dataFolder, binaries, progress: () => {}, unshare: BLOCKED })

    assert.equal(home.binaries.folder, join(dataFolder, `pg/postgres-${found.version}`))
    assert.deepEqual(home.account.ids, { uid: NOBODY, gid: NOBODY })
  })
})

describe('the account of the server, when we are an ordinary user', () => {
  it('is ourselves', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const user = await ordinaryUser(t, dataFolder)
    if (user === undefined) return

    const writer = startWriter(t, [join(dataFolder, 'made'), '3'], user)

    assert.equal(await writer.ended, 0, writer.said())
    assert.equal(writer.said(), 'ready\n1\n2\n3\n')
    const { uid } = await stat(join(dataFolder, 'made/pg/data'))
    assert.equal(uid, user.uid ?? process.getuid?.())
  })

  it('gets one sentence about a data folder that it cannot write', async (t) => {
    const dataFolder = await temporaryFolder(t)
    const user = await ordinaryUser(t, dataFolder)
    if (user === undefined) return
    if (user.uid === undefined) return t.skip('Needs root to make a folder of somebody else')
    await mkdir(join(dataFolder, 'locked'), { mode: 0o755 })
    await chown(join(dataFolder, 'locked'), 0, 0)

    for (const folder of ['locked', 'locked/deeper']) {
      const writer = startWriter(t, [join(dataFolder, folder), '1'], user)
      assert.equal(await writer.ended, 2)
      assert.match(
        writer.said(),
        new RegExp(
          `^StartError: Cannot write to the data folder ".*${folder}": .*permission denied.*\n$`,
        ),
      )
    }
  })
})
