import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { AppError } from '#lib/errors.ts'
import { uncovered } from './caller.ts'
import { keyring } from './keys.ts'

const request = (authorization?: string) =>
  new Request('http://memory', authorization === undefined ? {} : { headers: { authorization } })

describe('keyring', () => {
  const apiKeys = JSON.stringify([
    { key: 'k-reader', name: 'reader', grants: [{ prefix: 'tenant:1' }] },
    {
      key: 'k-writer',
      grants: [
        { prefix: 'a:', write: true },
        { prefix: 'b:', read: false },
      ],
    },
    { key: 'k-root', grants: [{ prefix: '', write: true }] },
  ])
  const who = keyring({ serverApiKey: 'server-key', apiKeys })

  it('knows each key by its name or place', () => {
    assert.equal(who(request('Bearer server-key')).label, 'base')
    assert.equal(who(request('bearer k-reader')).label, 'reader')
    assert.equal(who(request('Bearer k-writer')).label, 'key-1')
    assert.equal(who(request('Bearer k-writer')).service, false)
    assert.equal(who(request('Bearer k-root')).service, true)
  })

  it('answers every defect of a credential alike', () => {
    for (const header of [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer x',
      'Basic server-key',
      'k',
    ]) {
      assert.throws(
        () => who(request(header)),
        (error) => error instanceof AppError && error.code === 'invalid_credentials',
        header ?? 'none',
      )
    }
  })

  it('lets everybody in when no key is configured', () => {
    const local = keyring({ serverApiKey: undefined, apiKeys: undefined })(request())
    assert.deepEqual([local.label, local.grants], ['default', 'all'])
  })

  it('fails every request when the registry cannot be read', () => {
    for (const text of ['', '{}', '[]', '[{"key":"x","grants":[]}]', 'not json']) {
      const broken = keyring({ serverApiKey: 'server-key', apiKeys: text })
      assert.throws(() => broken(request('Bearer server-key')), /CB_API_KEYS/)
    }
  })
})

describe('uncovered', () => {
  const caller = keyring({
    serverApiKey: undefined,
    apiKeys: JSON.stringify([
      { key: 'k', grants: [{ prefix: 'tenant:1:', write: true }, { prefix: 'pub' }] },
    ]),
  })(request('Bearer k'))

  it('names the first namespace that no grant covers', () => {
    assert.equal(uncovered(caller, 'read', ['tenant:1:a', 'public', 'tenant:10:a']), 'tenant:10:a')
    assert.equal(uncovered(caller, 'write', ['tenant:1:a', 'public']), 'public')
    assert.equal(uncovered(caller, 'read', ['tenant:1:a', 'pub']), undefined)
  })
})
