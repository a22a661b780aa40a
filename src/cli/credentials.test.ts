import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, it } from 'node:test'
import type { TestContext } from 'node:test'
import type { getMe } from '#contract/org.ts'
import type { RouteReply } from '#contract/route.ts'
import { person } from '../../test/support/cli.ts'
import { fakeServer, reply } from '../../test/support/http-server.ts'
import type { Io } from './io.ts'
import { readHidden } from './login-commands.ts'

const KEY = 'cp_abc_secret'
const ME: RouteReply<typeof getMe> = {
  tenant: { id: crypto.randomUUID(), slug: 't', name: 'T', createdAt: '2026-01-01T00:00:00.000Z' },
  principal: {
    id: crypto.randomUUID(),
    kind: 'human',
    displayName: 'Ada',
    status: 'active',
    version: 1,
    createdAt: '2026-01-01T00:00:00.000Z',
  },
  permissions: ['admin'],
  keyPrefix: 'abc',
  iam: null,
  workspaceId: null,
}

/** A server that accepts every key and keeps those it was shown. */
async function listener(t: TestContext) {
  const { url, heard } = await fakeServer(t, (_request, response) => reply(response, 200, ME))
  return { url, keys: () => heard.map(({ headers }) => headers['authorization']) }
}

const credentialsOf = (home: string) => join(home, '.config/control-plane/credentials.json')

describe('login', () => {
  it('keeps the key for its server alone, in a file that only its owner can read', async (t) => {
    const [one, other] = [await listener(t), await listener(t)]
    const { home, run, runWith } = person(t)
    const { code, out } = await runWith({ stdin: `${KEY}\n` }, 'login', '--server', one.url)
    assert.deepEqual([code, out], [0, `Logged in to ${one.url} as Ada in t\n`])
    assert.equal(statSync(credentialsOf(home)).mode & 0o777, 0o600)
    assert.equal(statSync(dirname(credentialsOf(home))).mode & 0o777, 0o700)
    assert.equal((await run('whoami', '--server', one.url)).code, 0)
    const elsewhere = await run('whoami', '--server', other.url)
    assert.equal(elsewhere.code, 2)
    assert.match(elsewhere.err, /no credential is known for it\n.*control-plane login --server/)
    assert.deepEqual(one.keys(), [`Bearer ${KEY}`, `Bearer ${KEY}`])
    assert.deepEqual(other.keys(), [])
  })

  it('keeps nothing when the server refuses the key or does not answer', async (t) => {
    const error = { code: 'invalid_credentials', message: 'Cannot sign in', details: {} }
    const { url, close } = await fakeServer(t, (_request, response) =>
      reply(response, 401, { error }),
    )
    const { home, runWith } = person(t)
    const refused = await runWith({ stdin: KEY }, 'login', '--server', url)
    assert.equal(refused.code, 1)
    assert.match(
      refused.err,
      /^control-plane: invalid_credentials: Cannot sign in\nhint: the key is/,
    )
    const env = { CONTROL_PLANE_API_KEY: KEY }
    const used = await runWith({ env }, 'whoami', '--server', url)
    assert.match(used.err, /Cannot sign in\nhint: the key of CONTROL_PLANE_API_KEY is/)
    await close()
    const away = await runWith({ stdin: KEY }, 'login', '--server', url)
    assert.equal(away.code, 1)
    assert.match(away.err, /^control-plane: server_unreachable: Cannot reach .*ECONNREFUSED/)
    assert.equal(existsSync(credentialsOf(home)), false)
  })

  it('refuses what cannot be a key, and asks nobody', async (t) => {
    const { url, keys } = await listener(t)
    const { runWith } = person(t)
    for (const stdin of ['', ' \n', 'two words', 'two\nlines', 'ключ', 'x'.repeat(9000)]) {
      assert.equal((await runWith({ stdin }, 'login', '--server', url)).code, 2, stdin.slice(0, 20))
    }
    assert.deepEqual(keys(), [])
  })

  it('is undone by logout, for that server alone', async (t) => {
    const [one, other] = [await listener(t), await listener(t)]
    const { run, runWith } = person(t)
    for (const { url } of [one, other]) await runWith({ stdin: KEY }, 'login', '--server', url)
    assert.match((await run('logout', '--server', one.url)).out, /^Logged out of/)
    assert.match((await run('logout', '--server', one.url)).out, /^No key was stored/)
    assert.equal((await run('whoami', '--server', one.url)).code, 2)
    assert.equal((await run('whoami', '--server', other.url)).code, 0)
  })

  it('does not show a key that is typed, and can be left', async () => {
    const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
    const io: Io = {
      env: {},
      cwd: '/',
      home: '/',
      stdin,
      stdout,
      stderr,
      signal: new AbortController().signal,
    }
    const typed = readHidden(io, 'Key: ')
    stdin.write('cp_abX\u007fc_s')
    stdin.write('ecret\r')
    assert.equal(await typed, 'cp_abc_secret')
    assert.equal(String(stderr.read()), 'Key: \n')
    assert.equal(stdout.read(), null)
    const given = readHidden(io, 'Key: ')
    stdin.write('half\u0003')
    await assert.rejects(given, { name: 'Interrupted' })
    const ended = readHidden(io, 'Key: ')
    stdin.write('\u0004')
    await assert.rejects(ended, /No key was given/)
  })
})

describe('a file with keys', () => {
  it('is refused when others could read or write it', async (t) => {
    const { url, keys } = await listener(t)
    const { home, run, runWith } = person(t)
    await runWith({ stdin: KEY }, 'login', '--server', url)
    for (const mode of [0o644, 0o640, 0o602, 0o700, 0o400]) {
      chmodSync(credentialsOf(home), mode)
      const { code, err } = await run('whoami', '--server', url)
      assert.equal(code, 2)
      assert.match(
        err,
        new RegExp(`its mode is 0${mode.toString(8)} and must be 0600\nhint: chmod`),
      )
      assert.equal((await runWith({ stdin: KEY }, 'login', '--server', url)).code, 2)
    }
    assert.equal(keys().length, 6)
  })

  it('is refused when login did not write it', async (t) => {
    const { home, run } = person(t)
    mkdirSync(dirname(credentialsOf(home)), { recursive: true })
    for (const text of ['{', '[]', '{"servers":{"http://h":{}}}']) {
      writeFileSync(credentialsOf(home), text, { mode: 0o600 })
      const { code, err } = await run('whoami')
      assert.deepEqual([code, /is not what login wrote/.test(err)], [2, true])
    }
  })
})

describe('CONTROL_PLANE_API_KEY', () => {
  it('goes before what login stored', async (t) => {
    const { url, keys } = await listener(t)
    const { runWith } = person(t)
    await runWith({ stdin: KEY }, 'login', '--server', url)
    await runWith({ env: { CONTROL_PLANE_API_KEY: 'cp_env_x' } }, 'whoami', '--server', url)
    assert.deepEqual(keys(), [`Bearer ${KEY}`, 'Bearer cp_env_x'])
  })

  it('is not sent to a server on another machine that only a file names', async (t) => {
    const { folder, runWith } = person(t, { CONTROL_PLANE_API_KEY: KEY })
    mkdirSync(join(folder, '.git'))
    mkdirSync(join(folder, '.control-plane'))
    const config = JSON.stringify({ server: 'http://evil.invalid' })
    writeFileSync(join(folder, '.control-plane/config.json'), config)
    const { code, err } = await runWith({}, 'whoami')
    assert.equal(code, 2)
    assert.match(
      err,
      /Cannot send CONTROL_PLANE_API_KEY to http:\/\/evil\.invalid: only .*config\.json/,
    )
    const piped = await runWith({ stdin: KEY, env: { CONTROL_PLANE_API_KEY: '' } }, 'login')
    assert.equal(piped.code, 2)
    const meant = await runWith({}, 'whoami', '--server', 'http://evil.invalid')
    assert.match(meant.err, /server_unreachable/)
  })

  it('does not follow a server that sends its callers elsewhere', async (t) => {
    const { url, keys } = await listener(t)
    const moved = await fakeServer(t, (_request, response) => {
      response.writeHead(307, { location: `${url}/api/v1/me` }).end()
    })
    const { runWith } = person(t, { CONTROL_PLANE_API_KEY: KEY })
    const { code, err } = await runWith({}, 'whoami', '--server', moved.url)
    assert.equal(code, 1)
    assert.match(err, /server_unreachable/)
    assert.deepEqual(keys(), [])
  })
})

describe('the key of a server on this machine', () => {
  it('is taken from the data folder for the default address alone', async (t) => {
    const { url, keys } = await listener(t)
    const { folder, run, runWith } = person(t)
    const data = join(folder, '.strata')
    mkdirSync(data)
    writeFileSync(join(data, 'admin.key'), `${KEY}\n`, { mode: 0o600 })
    assert.equal((await run('whoami', '--server', url)).code, 2)
    assert.deepEqual(keys(), [])
    // Whatever answers at the default address, if anything does: the key is not what is missing.
    assert.doesNotMatch((await run('whoami')).err, /no credential/)
    const elsewhere = await runWith({ env: { STRATA_DATA: './none' } }, 'whoami')
    assert.match(elsewhere.err, /no credential is known/)
    chmodSync(join(data, 'admin.key'), 0o644)
    assert.match((await run('whoami')).err, /admin\.key: its mode is 0644/)
    assert.equal(readFileSync(join(data, 'admin.key'), 'utf8'), `${KEY}\n`)
  })
})
