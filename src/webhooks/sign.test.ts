import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import { newSecret, secretText, signatureHeaders } from './sign.ts'

const timestamp = Math.floor(Date.now() / 1000)

describe('the signature of a message', () => {
  it('is the one that the published library for receivers checks, whatever the text', () => {
    const secret = newSecret()
    const receiver = new Webhook(secretText(secret))
    fc.assert(
      fc.property(fc.json(), fc.uuid(), (body, id) => {
        const headers = signatureHeaders([secret], { id, timestamp, body })
        assert.deepEqual(receiver.verify(body, headers), JSON.parse(body))
        assert.throws(() => receiver.verify(`${body} `, headers))
        assert.throws(() => receiver.verify(body, { ...headers, 'webhook-id': 'another' }))
      }),
    )
  })

  it('is equal to theirs, as they make it', () => {
    const secret = newSecret()
    const at = new Date(timestamp * 1000)
    const theirs = new Webhook(secretText(secret)).sign('msg', at, '{}')
    const ours = signatureHeaders([secret], { id: 'msg', timestamp, body: '{}' })
    assert.equal(ours['webhook-signature'], theirs)
  })

  it('is made with every valid secret, so that a receiver with either accepts it', () => {
    const secrets = [newSecret(), newSecret()]
    const headers = signatureHeaders(secrets, { id: 'msg', timestamp, body: '[1]' })
    for (const secret of secrets) {
      assert.deepEqual(new Webhook(secretText(secret)).verify('[1]', headers), [1])
    }
    assert.throws(() => new Webhook(secretText(newSecret())).verify('[1]', headers))
  })
})
