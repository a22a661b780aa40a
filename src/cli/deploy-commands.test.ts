import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { clientTokens } from '#lib/client-tokens.ts'
import { person } from '../../test/support/cli.ts'
import { startIssuer } from '../../test/support/issuer.ts'

const IAM_FILE = 'deploy/secrets/control-plane-iam.env'

describe('deploy secrets', () => {
  it('makes keys of its own for every installation, for the owner alone, and never others', async (t) => {
    const one = person(t)
    const first = await one.run('deploy', 'secrets')
    assert.equal(first.code, 0, first.err)
    const settings = readFileSync(join(one.folder, 'deploy/.env'), 'utf8')
    assert.match(settings, /^MEMORY_API_KEY=[\w-]{43}\nCP_BOOTSTRAP_TOKEN=[\w-]{43}\n$/m)
    for (const file of ['deploy/.env', IAM_FILE]) {
      assert.equal(statSync(join(one.folder, file)).mode & 0o777, 0o600)
    }
    assert.match((await one.run('deploy', 'secrets')).out, /^Kept .*\nKept /)
    assert.equal(readFileSync(join(one.folder, 'deploy/.env'), 'utf8'), settings)
    const other = person(t)
    await other.run('deploy', 'secrets')
    assert.notEqual(readFileSync(join(other.folder, 'deploy/.env'), 'utf8'), settings)
  })
})

describe('deploy account', () => {
  it('registers a client with which tokens for memory are given', async (t) => {
    const issuer = await startIssuer([], { t, registrationToken: 'may-register-clients' })
    const { folder, run, runWith } = person(t)
    const words = ['deploy', 'account', '--issuer', issuer.url]
    const refused = await run(...words)
    assert.equal(refused.code, 2)
    assert.match(refused.err, /^control-plane: Cannot register at .*: it answered 40\d/)

    const env = { IAM_REGISTRATION_TOKEN: 'may-register-clients' }
    const done = await runWith({ env }, ...words)
    assert.equal(done.code, 0, done.err)
    assert.equal(statSync(join(folder, IAM_FILE)).mode & 0o777, 0o600)
    const settings = readSettings(join(folder, IAM_FILE))
    assert.ok(!`${done.out}${done.err}`.includes(settings['CP_IAM_CLIENT_SECRET'] ?? '?'))
    const tokens = clientTokens({
      issuer: settings['CP_IAM_ISSUER'] ?? '',
      tokenUrl: undefined,
      clientId: settings['CP_IAM_CLIENT_ID'] ?? '',
      clientSecret: settings['CP_IAM_CLIENT_SECRET'] ?? '',
      audience: 'memory-service',
      scopes: ['memory:read'],
    })
    assert.match(await tokens.get(), /^eyJ/)

    const again = await runWith({ env }, ...words)
    assert.match(again.err, /names a client already/)
    assert.equal((await runWith({ env }, ...words, '--force')).code, 0)
    assert.notDeepEqual(readSettings(join(folder, IAM_FILE)), settings)
  })

  it('says so when the issuer has no registration, or is none, and changes nothing', async (t) => {
    const issuer = await startIssuer([], { t })
    const { folder, run } = person(t)
    await run('deploy', 'secrets')
    const before = readFileSync(join(folder, IAM_FILE), 'utf8')
    const none = await run('deploy', 'account', '--issuer', issuer.url)
    assert.match(none.err, /it names no registration endpoint\nhint: /)
    const nobody = await run('deploy', 'account', '--issuer', 'http://127.0.0.1:1')
    assert.match(nobody.err, /^control-plane: Cannot register at http:\/\/127\.0\.0\.1:1: /)
    const plain = await run('deploy', 'account', '--issuer', 'http://issuer.example')
    assert.match(plain.err, /is not encrypted/)
    assert.equal(readFileSync(join(folder, IAM_FILE), 'utf8'), before)
  })
})

describe('deploy bootstrap', () => {
  it('asks for the token by the name of its variable, and keeps a key that is there', async (t) => {
    const { folder, run, runWith } = person(t)
    assert.match((await run('deploy', 'bootstrap', 'acme')).err, /CP_BOOTSTRAP_TOKEN is not set/)
    const file = join(folder, 'admin.key')
    writeFileSync(file, 'cp_key\n', { mode: 0o600 })
    const env = { CP_BOOTSTRAP_TOKEN: 'token-of-this-test' }
    const { err } = await runWith({ env }, 'deploy', 'bootstrap', 'acme', '--out', file)
    assert.match(err, /holds a key already/)
    assert.equal(readFileSync(file, 'utf8'), 'cp_key\n')
  })
})

function readSettings(file: string): Record<string, string> {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return Object.fromEntries(lines.map((line) => line.split(/=(.*)/s).slice(0, 2)))
}
