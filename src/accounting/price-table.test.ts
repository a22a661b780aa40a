import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as fc from 'fast-check'
import type { PriceEntry } from '#contract/price-tables.ts'
import type { Tokens } from '#contract/spent.ts'
import { fromTrillionths, toTrillionths } from '#lib/amount.ts'
import { costOf, fits } from './price-table.ts'

const NOTHING: Tokens = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, reasoning: 0 }

const entry = (given: Partial<PriceEntry>): PriceEntry => ({
  provider: null,
  model: '*',
  input: '3',
  output: '15',
  cacheRead: null,
  cacheWrite: null,
  reasoning: '15',
  ...given,
})

const name = { provider: 'anthropic', model: 'large-4-20260101' }

function cost(entries: PriceEntry[], tokens: Partial<Tokens>, of = name) {
  return costOf({ version: 1, entries }, of, { ...NOTHING, ...tokens })
}

describe('the cost of tokens', () => {
  it('is exact to the last decimal', () => {
    const cheap = entry({ input: '0.000001', cacheRead: '0.3' })
    assert.equal(cost([cheap], { input: 1 }).cost, '0.000000000001')
    assert.equal(cost([cheap], { cacheRead: 7 }).cost, '0.0000021')
    const dear = entry({ input: '999999999.999999' })
    assert.equal(cost([dear], { input: 1_000_000_000_000 }).cost, '999999999999999')
  })

  it('adds up however the tokens are shared among reports', () => {
    const price = fc
      .tuple(fc.nat(999), fc.nat(999_999))
      .map(([whole, millionths]) => `${whole}.${String(millionths).padStart(6, '0')}`)
    fc.assert(
      fc.property(price, fc.array(fc.nat(10_000), { maxLength: 20 }), (input, parts) => {
        const all = parts.reduce((sum, part) => sum + part, 0)
        const costs = parts.map((part) => cost([entry({ input })], { input: part }).cost ?? '')
        const sum = costs.map(toTrillionths).reduce((a, b) => a + b, 0n)
        assert.equal(fromTrillionths(sum), cost([entry({ input })], { input: all }).cost)
      }),
    )
  })

  it('goes by the first entry that fits', () => {
    const entries = [
      entry({ provider: 'openai', input: '1' }),
      entry({ model: 'large-*', input: '2' }),
      entry({ model: '*', input: '4' }),
    ]
    const of = (provider: string | null, model: string) =>
      cost(entries, { input: 1_000_000 }, { provider, model } as typeof name).cost
    assert.equal(of('openai', 'large-4'), '1')
    assert.equal(of('anthropic', 'large-4'), '2')
    assert.equal(of(null, 'small'), '4')
  })

  it('is unknown, not zero, where no price is', () => {
    assert.deepEqual(costOf(undefined, name, NOTHING), {
      cost: null,
      priceVersion: null,
      unpriced: 'no_price_table',
    })
    assert.equal(cost([entry({ model: 'small' })], { input: 1 }).unpriced, 'unknown_model')
    assert.equal(cost([entry({})], { input: 1, cacheRead: 1 }).unpriced, 'token_class')
    assert.equal(cost([entry({})], { input: 0 }).cost, '0')
  })
})

describe('a pattern', () => {
  it('stands for a text, or with * for what begins, ends or goes on like it', () => {
    const texts: [string, string, boolean][] = [
      ['large', 'large', true],
      ['large', 'large-4', false],
      ['large*', 'large-4', true],
      ['*-4', 'large-4', true],
      ['*arg*', 'large-4', true],
      ['*arg*', 'small', false],
      ['*', 'anything', true],
      ['**', 'anything', true],
      ['LARGE*', 'large', false],
      ['a.c', 'abc', false],
    ]
    for (const [pattern, text, expected] of texts) {
      assert.equal(fits(pattern, text), expected, `${pattern} and ${text}`)
    }
  })
})
