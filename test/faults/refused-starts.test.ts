import assert from 'node:assert/strict'
import { chmod, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import { databaseUrl } from '#db/address.ts'
import { emptyDatabase, ownDatabase } from '../support/db.ts'
import { ordinaryUser, temporaryFolder } from '../support/embedded.ts'
import { fakeServer } from '../support/http-server.ts'
import { startProgram, startRole } from '../support/program.ts'
import type { Running } from '../support/program.ts'

/** The one sentence of a program that does not start; it ends with 2 and says nothing that looks broken. */
async function refusal(running: Running): Promise<string> {
  assert.equal(await running.ended, 2, running.said())
  const lines = running.told().split('\n')
  const sentences = lines.filter((line) => line.startsWith('strata: '))
  assert.equal(sentences.length, 1, running.said())
  assert.doesNotMatch(running.said(), /\n {4}at |node:internal/)
  return sentences[0] ?? ''
}

const FREE_PORTS = { CP_PORT: '0', CB_SERVER_PORT: '0' }

/** A port that another program uses. */
async function takenPort(t: TestContext): Promise<string> {
  return new URL((await fakeServer(t, () => {})).url).port
}

/** A port that takes connections and never says a word. */
async function silentPort(t: TestContext): Promise<number> {
  const open: Socket[] = []
  const server = createServer((socket) => open.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of open) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

describe('a start that cannot be: one sentence, exit code 2', () => {
  it('when a setting is not what it must be, all of them at once and none of their values', async (t) => {
    const settings = { CP_PORT: 'seven', CP_BOOTSTRAP_TOKEN: 'tiny', CP_DATABASE_URL: 'mysql://x' }
    const sentence = await refusal(startRole(t, 'api', settings))
    for (const name of Object.keys(settings)) assert.ok(sentence.includes(name), sentence)
    assert.doesNotMatch(sentence, /seven|tiny|mysql/)
  })

  it('when it is left open where large content goes', async (t) => {
    const settings = { CP_ARTIFACT_FOLDER: 'content', CP_S3_BUCKET: 'content' }
    const sentence = await refusal(startRole(t, 'worker', settings))
    assert.match(sentence, /CP_ARTIFACT_FOLDER must not stand beside CP_S3_BUCKET/)
    assert.match(sentence, /CP_S3_ACCESS_KEY_ID is needed.*CP_S3_SECRET_ACCESS_KEY is needed/)
  })

  it('when the role is none or one too many', async (t) => {
    assert.match(await refusal(startRole(t, 'apy', {})), /no role "apy".*\bapi\b/)
    const program = join(import.meta.dirname, '../../bin/strata.mjs')
    assert.match(await refusal(startProgram(t, [program, 'api', 'worker'])), /takes no arguments/)
  })

  it('but not when it is asked how it is used', async (t) => {
    const running = startRole(t, '--help', {})
    assert.equal(await running.ended, 0)
    for (const role of ['all', 'api', 'worker', 'migrate']) {
      assert.match(running.said(), new RegExp(`^ +${role} +\\w`, 'm'))
    }
  })

  it('when no database is named', async (t) => {
    const roles = { api: 'CP_DATABASE_URL', memory: 'CB_DATABASE_URL' }
    for (const [role, name] of Object.entries(roles)) {
      assert.match(await refusal(startRole(t, role, FREE_PORTS)), new RegExp(`${name} is not set`))
    }
  })

  it('when nobody answers at the address of the database, or something else does', async (t) => {
    const other = await takenPort(t)
    const silent = await silentPort(t)
    const places = [
      '127.0.0.1:1',
      'no-such-host.invalid',
      `127.0.0.1:${other}`,
      `127.0.0.1:${silent}`,
    ]
    const starts = places.map(async (place) => {
      const url = `postgres://somebody:pass-of-mine@${place}/none?connect_timeout=1`
      const settings = { ...FREE_PORTS, CP_DATABASE_URL: url, CB_DATABASE_URL: url }
      const sentence = await refusal(startRole(t, place.endsWith(':1') ? 'all' : 'api', settings))
      assert.match(sentence, /^strata: Cannot reach the database of CP_DATABASE_URL: \S/)
      assert.doesNotMatch(sentence, /pass-of-mine/)
    })
    await Promise.all(starts)
  })

  it('when the server has no such database, or does not let us in', async (t) => {
    const { address } = await emptyDatabase(t)
    const absent = new URL(databaseUrl(address('app')))
    absent.pathname = '/not_there'
    const settings = { ...FREE_PORTS, CP_DATABASE_URL: absent.href }
    assert.match(await refusal(startRole(t, 'api', settings)), /CP_DATABASE_URL: .*not_there/)
    const wrong = new URL(databaseUrl(address('app')))
    wrong.username = 'stranger'
    wrong.password = 'pass-of-mine'
    const other = { ...FREE_PORTS, CB_DATABASE_URL: wrong.href }
    const sentence = await refusal(startRole(t, 'memory', other))
    assert.match(sentence, /CB_DATABASE_URL: .*stranger/)
    assert.doesNotMatch(sentence, /pass-of-mine/)
  })

  it('when the database was never migrated, or by a newer version', async (t) => {
    const empty = databaseUrl((await emptyDatabase(t)).address('app'))
    const settings = { ...FREE_PORTS, CP_DATABASE_URL: empty, CB_DATABASE_URL: empty }
    const starts = ['worker', 'memory'].map(async (role) => {
      const sentence = await refusal(startRole(t, role, settings))
      assert.match(sentence, /lacks \d+ migrations; run "strata migrate" first/, role)
    })
    await Promise.all(starts)

    const { db, address } = await ownDatabase(t, 'control-plane')
    await db`insert into schema_migrations (name, sha256) values ('9999_later.sql', 'x')`
    const newer = { ...FREE_PORTS, CP_DATABASE_URL: databaseUrl(address('app')) }
    assert.match(await refusal(startRole(t, 'api', newer)), /9999_later\.sql/)
  })

  it('when another program uses the port', async (t) => {
    const port = await takenPort(t)
    const control = databaseUrl((await ownDatabase(t, 'control-plane')).address('app'))
    const memory = databaseUrl((await ownDatabase(t, 'memory')).address('app'))
    const taken = new RegExp(`Cannot listen on 127\\.0\\.0\\.1:${port} .*uses the port`)
    const api = startRole(t, 'api', { CP_PORT: port, CP_DATABASE_URL: control })
    assert.match(await refusal(api), taken)
    const served = startRole(t, 'memory', { CB_SERVER_PORT: port, CB_DATABASE_URL: memory })
    assert.match(await refusal(served), taken)
  })

  it('when the data folder may not be written', async (t) => {
    const folder = await temporaryFolder(t)
    const user = await ordinaryUser(t, folder)
    if (!user) return
    await chmod(folder, 0o500)
    const settings = { ...FREE_PORTS, STRATA_DATA: join(folder, 'data') }
    const sentence = await refusal(startRole(t, 'all', settings, { ...user, cwd: '/' }))
    assert.match(sentence, /^strata: Cannot write to the data folder ".*data": \S/)
    await chmod(folder, 0o700)
  })

  it('when the data folder is a file', async (t) => {
    const file = join(await temporaryFolder(t), 'data')
    await writeFile(file, '')
    const sentence = await refusal(startRole(t, 'all', { ...FREE_PORTS, STRATA_DATA: file }))
    assert.match(sentence, /^strata: Cannot write to the data folder ".*data": \S/)
  })

  it('when a live process uses the data folder or the port, and both are free afterwards', async (t) => {
    const folder = await temporaryFolder(t)
    const settings = { ...FREE_PORTS, STRATA_DATA: folder }
    const first = startRole(t, 'all', { ...settings, CP_PORT: await takenPort(t) })
    assert.match(await refusal(first), /uses the port/)
    const second = startRole(t, 'all', settings)
    await second.hears(/ is ready at /)

    const third = await refusal(startRole(t, 'all', settings))
    assert.match(third, new RegExp(`data folder ".*": process ${second.pid} is using it`))

    second.kill('SIGTERM')
    assert.equal(await second.ended, 0, second.said())
  })
})
