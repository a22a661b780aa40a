import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { blockList, isCallable } from './networks.ts'
import { targetOf } from './target.ts'

const NOTHING = { networks: blockList([]), httpHosts: new Set<string>() }
const INSIDE = {
  networks: blockList(['10.1.0.0/16', 'fd00::/8']),
  httpHosts: new Set(['hooks.internal', '10.1.2.3']),
}

const OPEN = ['1.1.1.1', '8.8.8.8', '172.15.0.1', '172.32.0.1', '2606:4700::1111', '::ffff:8.8.8.8']
const CLOSED = [
  '0.0.0.0',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.255',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.1',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::127.0.0.1',
  '64:ff9b::7f00:1',
  '2002:7f00:1::',
  '2001:0:7f00:1::',
  '2001:db8::1',
  'fc00::1',
  'fd12::1',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  'ff02::1',
  'nonsense',
  '',
]

describe('an address that webhooks may call', () => {
  it('belongs to the open internet', () => {
    assert.deepEqual(
      OPEN.filter((address) => !isCallable(address, NOTHING.networks)),
      [],
    )
    assert.deepEqual(
      CLOSED.filter((address) => isCallable(address, NOTHING.networks)),
      [],
    )
  })

  it('or to a network that the operator allows, in either spelling', () => {
    for (const address of ['10.1.255.1', '::ffff:10.1.0.1', 'fd12::1']) {
      assert.equal(isCallable(address, INSIDE.networks), true, address)
    }
    assert.equal(isCallable('10.2.0.1', INSIDE.networks), false)
    for (const wrong of ['10.1.0.0', '10.1.0.0/16/8', 'hooks/8', '10.1.0.0/x', '10.1.0.0/64']) {
      assert.throws(() => blockList([wrong]))
    }
  })
})

describe('the address of a receiver', () => {
  it('is an https URL in one spelling', () => {
    const url = targetOf('HTTPS://Example.COM:443/hook?a=1', NOTHING)
    assert.equal(url, 'https://example.com/hook?a=1')
    assert.equal(targetOf('https://пример.рф/', NOTHING), 'https://xn--e1afmkfd.xn--p1ai/')
    assert.equal(targetOf('http://hooks.internal/x', INSIDE), 'http://hooks.internal/x')
    assert.equal(targetOf('http://10.1.2.3:8080/', INSIDE), 'http://10.1.2.3:8080/')
  })

  for (const url of [
    'example.com',
    'ftp://example.com/',
    'file:///etc/passwd',
    'javascript:alert(1)',
    'http://example.com/',
    'https://user:secret@example.com/',
    'https://user@example.com/',
    'https://example.com/#fragment',
    'https://127.0.0.1/',
    'https://2130706433/',
    'https://0x7f.1/',
    'https://0177.0.0.1/',
    'https://127.1/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://１２７.０.０.１/',
    'https://',
    'https:// example.com/',
    'https://exa\u0000mple.com/',
  ]) {
    it(`is not ${JSON.stringify(url)}`, () => {
      assert.throws(() => targetOf(url, NOTHING), { code: 'invalid_request' })
    })
  }
})
