import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import { fromTrillionths, normalAmount, smallerAmount, toTrillionths } from './amount.ts'

describe('an amount', () => {
  it('is read and written without losing anything', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 10n ** 38n - 1n }), (amount) => {
        assert.equal(toTrillionths(fromTrillionths(amount)), amount)
      }),
    )
    assert.equal(toTrillionths('0.1') + toTrillionths('0.2'), toTrillionths('0.3'))
  })

  it('has one shortest spelling', () => {
    const spelled = { '1.50': '1.5', '0': '0', '0.000000000001': '0.000000000001', '100': '100' }
    for (const [text, normal] of Object.entries(spelled)) assert.equal(normalAmount(text), normal)
  })

  it('is compared by its value', () => {
    assert.equal(smallerAmount('9.5', '10'), '9.5')
    assert.equal(smallerAmount('2', '1.999999'), '1.999999')
  })

  it('is never guessed from other text', () => {
    for (const text of ['', '-1', '1e3', '.5', '1.', '1,5', '0x10', '1.0000000000001', 'NaN']) {
      assert.throws(() => toTrillionths(text), RangeError, text)
    }
  })
})
