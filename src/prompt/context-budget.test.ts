import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { contextBudget } from './context-budget.ts'

describe('contextBudget', () => {
  it('takes a positive integer', () => {
    assert.equal(contextBudget('1'), 1)
    assert.equal(contextBudget(' 500 '), 500)
    assert.equal(contextBudget('+20000'), 20_000)
  })

  for (const value of [
    undefined,
    '',
    '0',
    '-1',
    '-12000',
    '1.5',
    '1e4',
    '0x10',
    'many',
    '12 000',
    'NaN',
    '9'.repeat(30),
  ]) {
    it(`is 12,000 for ${value}`, () => {
      assert.equal(contextBudget(value), 12_000)
    })
  }
})
