import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { findSecretIn, isSensitiveKey, portabilityViolation } from './portability.ts'

describe('portabilityViolation', () => {
  const paths = [
    '/home/anna/x',
    'at /tmp/x now',
    'file:///etc/hosts',
    'FILE://x',
    '~/notes',
    'see ~/notes',
  ]
  for (const text of [...paths, 'C:\\x', 'D:/x', '\\\\server\\share', '/etc/hosts', '/srv/data/']) {
    it(`refuses the path in ${JSON.stringify(text)}`, () => {
      assert.deepEqual(portabilityViolation({ a: [1, { b: text }] }), {
        pointer: '/a/1/b',
        kind: 'local_path',
      })
    })
  }

  const keys = [
    'apikey',
    'api_key',
    'Authorization',
    'credential',
    'key_hash',
    'password',
    'secret',
    'token',
  ]
  for (const key of [...keys, 'apiKey', 'client-secret', 'DB_PASSWORD']) {
    it(`refuses a filled field named ${key}, not an empty or redacted one`, () => {
      const violation = { pointer: `/x/${key}`, kind: 'sensitive_key' }
      for (const value of ['v', 1, ['v'], { v: 1 }]) {
        assert.deepEqual(portabilityViolation({ x: { [key]: value } }), violation)
      }
      for (const value of ['', null, false, [], {}, '<redacted>']) {
        assert.equal(portabilityViolation({ x: { [key]: value } }), undefined)
      }
    })
  }

  const tokens = ['cp_abcd', 'sk-abcd', 'ghp_abcd', 'github_pat_abcd', 'xoxb-abcd', 'a sk-12345678']
  for (const text of [...tokens, 'x -----BEGIN CERTIFICATE-----', 'password=hunter22']) {
    it(`refuses the credential in ${JSON.stringify(text)}`, () => {
      assert.deepEqual(portabilityViolation([text]), { pointer: '/0', kind: 'credential' })
    })
  }

  it('points at the object when a key is at fault, so that the key is not repeated', () => {
    assert.deepEqual(portabilityViolation({ a: { 'sk-12345678': 1 } }), {
      pointer: '/a',
      kind: 'credential',
    })
    assert.deepEqual(portabilityViolation({ '/home/anna': 1 }), { pointer: '', kind: 'local_path' })
  })

  it('escapes pointers as RFC 6901 has it and reports the first place', () => {
    assert.equal(portabilityViolation({ 'a/b': { 'c~d': '~/x' }, z: '~/y' })?.pointer, '/a~1b/c~0d')
  })

  it('lets ordinary values pass', () => {
    const value = {
      branch: 'task/TASK-1',
      url: 'https://example.com/home/x',
      file: 'src/var/x.ts',
      fencingToken: 7,
      tokens: 12,
      tool: 'cp_get_context',
      note: 'the token is kept in the vault',
      route: '/tasks',
      list: [null, true, 1.5, ''],
    }
    assert.equal(portabilityViolation(value), undefined)
    assert.equal(portabilityViolation('plain'), undefined)
    assert.equal(portabilityViolation(undefined), undefined)
  })

  it('needs no call stack for deep values', () => {
    let deep: unknown = '/home/anna'
    for (let depth = 0; depth < 20_000; depth += 1) deep = [deep]
    assert.equal(portabilityViolation(deep)?.kind, 'local_path')
  })
})

describe('findSecretIn', () => {
  it('finds a credential in any string, a key, or under a telling name', () => {
    assert.deepEqual(findSecretIn({ content: 'use sk-12345678' }), {
      pointer: '/content',
      kind: 'token',
    })
    assert.deepEqual(findSecretIn({ data: { list: ['ok', 'password=abcd1'] } }), {
      pointer: '/data/list/1',
      kind: 'assignment',
    })
    assert.deepEqual(findSecretIn({ data: { dbPassword: 'swordfish' } }), {
      pointer: '/data/dbPassword',
      kind: 'sensitive_key',
    })
    assert.deepEqual(findSecretIn({ data: { ghp_12345678: 1 } }), {
      pointer: '/data',
      kind: 'token',
    })
  })

  it('finds nothing in paths, empty fields and ordinary text', () => {
    const value = {
      content: 'in /home/anna',
      token: '',
      secret: null,
      password: '<redacted>',
      n: 1,
    }
    assert.equal(findSecretIn(value), undefined)
  })
})

describe('isSensitiveKey', () => {
  it('knows a counter and a fencing token from a secret', () => {
    for (const key of [
      'tokens',
      'fencingToken',
      'maxTokens',
      'tokenCount',
      'secretary',
      'passwordless',
    ]) {
      assert.equal(isSensitiveKey(key), false, key)
    }
    for (const key of ['accessToken', 'Refresh-Token', 'JWT_SECRET', 'userPassword', 'X-Api-Key']) {
      assert.equal(isSensitiveKey(key), true, key)
    }
  })
})
