import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { comparePositions, decodeCursor, encodeCursor } from './cursor.ts'

const position = fc.record(
  {
    journalEpoch: fc.integer({ min: 0, max: 2_147_483_647 }),
    txId: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
    sequence: fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String),
  },
  { noNullPrototype: true },
)

function wire(json: string): string {
  return `ec1_${Buffer.from(json).toString('base64url')}`
}

describe('cursor', () => {
  it('survives the way to a reader and back', () => {
    fc.assert(fc.property(position, (p) => assert.deepEqual(decodeCursor(encodeCursor(p)), p)))
  })

  it('orders by epoch, then transaction, then sequence, as numbers', () => {
    const order = [
      { journalEpoch: 1, txId: '9', sequence: '9' },
      { journalEpoch: 1, txId: '10', sequence: '2' },
      { journalEpoch: 1, txId: '10', sequence: '10' },
      { journalEpoch: 2, txId: '1', sequence: '1' },
    ]
    assert.deepEqual(order.toReversed().toSorted(comparePositions), order)
  })

  for (const [name, cursor] of Object.entries({
    'no cursor at all': 'hello',
    'an empty one': 'ec1_',
    'a missing part': wire('{"e":1,"t":"1"}'),
    'one part too many': wire('{"e":1,"t":"1","s":"1","x":1}'),
    'a number for a decimal text': wire('{"e":1,"t":1,"s":"1"}'),
    'a boolean epoch': wire('{"e":true,"t":"1","s":"1"}'),
    'a fraction': wire('{"e":1.5,"t":"1","s":"1"}'),
    'another spelling of a number': wire('{"e":1,"t":"01","s":"1"}'),
    'a digit of another script': wire('{"e":1,"t":"²","s":"1"}'),
    'a transaction beyond 64 bits': wire('{"e":1,"t":"18446744073709551616","s":"1"}'),
    'a sequence beyond 63 bits': wire('{"e":1,"t":"1","s":"9223372036854775808"}'),
    'keys in another order': wire('{"t":"1","e":1,"s":"1"}'),
    'white space': wire('{"e":1, "t":"1","s":"1"}'),
    padding: `${encodeCursor({ journalEpoch: 1, txId: '1', sequence: '1' })}=`,
  })) {
    it(`refuses ${name}`, () => {
      assert.throws(() => decodeCursor(cursor), { code: 'invalid_cursor' })
    })
  }

  it('says which versions it reads when it meets another', () => {
    assert.throws(() => decodeCursor('ec2_abc', 'body.cursor'), {
      code: 'unsupported_cursor_version',
      details: {
        supported: [1],
        errors: [{ loc: 'body.cursor', message: 'is of an unknown version' }],
      },
    })
  })
})
